// The certificate of a server and its key, as files have them.
#pragma once

#include <string>

#include "base/result.h"

struct ssl_ctx_st;

namespace tls {

// Both in PEM. The certificate of the server comes first, then those between it and the root.
struct Files {
  std::string certificate;
  std::string key;
};

// Reads both files and gives `context` what is in them. kInternal with one line that says what is
// wrong with which file: it cannot be read, is no PEM, has an encrypted or a weak key, or one that
// does not belong to the certificate. A key file that others may read is refused too.
base::Status load(ssl_ctx_st* context, const Files& files);

// The reason of the oldest error that OpenSSL has noted in this thread. Forgets them all.
std::string take_reason();

}  // namespace tls
