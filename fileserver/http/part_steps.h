// The steps of a request for an upload in parts that both protocols have.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "fileserver/files/partial_uploads.h"
#include "fileserver/http/request_body.h"
#include "fileserver/http/upload_checks.h"
#include "fileserver/transfers/transfer.h"
#include "http/request_head.h"

namespace fileserver {

class Exchange;
struct Parts;

// One request. Its functions that return false have answered it. Threads: one.
class PartSteps {
 public:
  // Both must outlive this. Requires: the head of the request is still valid.
  PartSteps(Exchange& exchange, Parts& parts, PartialState::Protocol protocol);

  // Makes an upload, if a PUT of the name would be allowed now. Its conditions are those of this
  // request; they, the locks and the rights are looked at again before the file gets the name.
  bool begin(std::string_view name, std::optional<std::uint64_t> length_bytes);

  // Takes hold of an upload of this user, and ends an older request that has hold of it. To append
  // the user must still have the right to put its file.
  bool open(std::string_view id, PartialUploads::For purpose);

  // Appends the body, up to so many bytes. Bytes that were announced with a digest are kept only if
  // it holds. 413 if there are more, 400 if the digest does not hold, 507 and so on; nothing at the
  // end of the body. What came before a break is kept. `after_much` is called now and then, once
  // all that came is on disk.
  Refusal take_body(std::uint64_t most_bytes, DigestCheck& digest,
                    const std::function<void()>& after_much = {});

  // Whether take_body() has dropped the bytes for their digest.
  bool has_wrong_digest() const { return has_wrong_digest_; }

  // Gives the file its name, and answers as a PUT is answered; with another status for its success,
  // where the protocol wants one.
  void publish(std::optional<http::Status> done = {});

  // A field of the request that has begun the upload, if it was kept.
  std::string kept_field(http::Field field) const;

  PartialUpload& upload() { return *upload_; }
  const PartialState& state() const { return upload_->state(); }

  // The head of this request, also when the body was read.
  const http::RequestHead& head() const { return *head_; }

  // How many bytes the upload may still get: by its length, or else by --max-upload.
  std::uint64_t left_bytes() const;

 private:
  class Wish;
  bool answers_rights(std::string_view name);
  void answer_failure(int failure);

  Exchange& exchange_;
  Parts& parts_;
  const PartialState::Protocol protocol_;
  const KeptHead head_;
  Transfer transfer_;
  PartialUploads::Held upload_;
  bool has_wrong_digest_ = false;
};

// 400 or 409 as a problem of RFC 9457. `members` begins with a comma, or is empty.
void answer_problem(Exchange& exchange, http::Status status, std::string_view type,
                    std::string_view title, std::string_view members = {});

}  // namespace fileserver
