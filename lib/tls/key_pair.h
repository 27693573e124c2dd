// The certificate of a server and its key, as files have them.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "base/result.h"

struct ssl_ctx_st;

namespace tls {

// Both in PEM. The certificate of the server comes first, then those between it and the root.
struct Files {
  std::string certificate;
  std::string key;
  bool in_kernel = false;  // the kernel encrypts what a server sends, where it can
};

// Reads both files and gives `context` what is in them. kInternal with one line that says what is
// wrong with which file: it cannot be read, is no PEM, has an encrypted or a weak key, or one that
// does not belong to the certificate. A key file that others may read is refused too.
base::Status load(ssl_ctx_st* context, const Files& files);

// Believes the certificates that were issued by one of those in the file, in PEM. kInternal with
// one line that says what is wrong with it.
base::Status trust(ssl_ctx_st* context, const std::string& authorities);

// Adds the folders in which these files are to those that a sandbox lets read, so that files that
// take their place can be read too. A link has two. Empty paths are passed over.
void allow_reading(std::initializer_list<std::string> files, std::vector<std::string>& readable);

// The same for the file of authorities, or, if it is empty, for those that the system has, which
// OpenSSL reads when it needs them.
void allow_trusting(const std::string& authorities, std::vector<std::string>& readable);

// The reason of the oldest error that OpenSSL has noted in this thread. Forgets them all.
std::string take_reason();

}  // namespace tls
