// What an upload is held against, whether it comes in one request or in parts.
#pragma once

#include <string.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/sha256.h"
#include "fileserver/files/uploads.h"
#include "http/digest.h"
#include "http/request_head.h"

namespace fileserver {

class Exchange;
struct Parts;

// A copy of the head that lives as long as the upload. It holds credentials, so it is overwritten.
class KeptHead {
 public:
  explicit KeptHead(const http::RequestHead& head) : head_(head.copied_to(bytes_)) {}
  ~KeptHead() { ::explicit_bzero(bytes_.data(), bytes_.size()); }
  KeptHead(const KeptHead&) = delete;
  KeptHead& operator=(const KeptHead&) = delete;

  const http::RequestHead& operator*() const { return head_; }

 private:
  std::string bytes_;
  http::RequestHead head_;
};

// The digests that the client has announced. They are compared with that of the bytes.
class DigestCheck {
 public:
  explicit DigestCheck(const http::RequestHead& head)
      : DigestCheck(http::parse_digest(head, http::Field::kContentDigest),
                    http::parse_digest(head, http::Field::kReprDigest)) {}
  explicit DigestCheck(const http::Digest& one, const http::Digest& other = {})
      : announced_{one, other} {
    if (has(http::Digest::Kind::kSha256)) sha256_.emplace();
  }

  bool is_malformed() const { return has(http::Digest::Kind::kMalformed); }

  void add(std::string_view bytes) {
    if (sha256_) sha256_->add(bytes);
  }

  bool is_announced() const { return sha256_.has_value(); }

  // Called once, behind the last byte.
  bool holds() { return !sha256_ || is(sha256_->finish()); }

  // Whether all that are announced are this one.
  bool is(const base::Sha256Digest& sha256) const {
    for (const http::Digest& digest : announced_) {
      if (digest.kind == http::Digest::Kind::kSha256 &&
          ::memcmp(digest.sha256.data(), sha256.data(), sha256.size()) != 0)
        return false;
    }
    return true;
  }

 private:
  bool has(http::Digest::Kind kind) const {
    return announced_[0].kind == kind || announced_[1].kind == kind;
  }

  const std::array<http::Digest, 2> announced_;
  std::optional<base::Sha256> sha256_;  // of the bytes that came, if it is announced
};

// Answers a PUT that was published, or was not. `done`: with this status if it was.
void answer_published(Exchange& exchange, const Parts& parts, const Uploads::Published& published,
                      std::optional<http::Status> done = {});

}  // namespace fileserver
