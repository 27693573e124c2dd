// Content-Digest, Repr-Digest and Want-Repr-Digest (RFC 9530), as far as sha-256.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "http/request_head.h"

namespace http {

struct Digest {
  enum class Kind : std::uint8_t {
    kNone,  // did not come, or only other algorithms
    kSha256,
    kMalformed,  // 400
  };
  Kind kind = Kind::kNone;
  std::array<char, 32> sha256 = {};
};

// Reads one of the two fields. The last sha-256 counts, as in any dictionary of RFC 8941.
Digest parse_digest(const RequestHead& head, Field field);

// Whether Want-Repr-Digest has sha-256 with an integer over 0. The last sha-256 counts, and other
// algorithms do not.
bool wants_sha256(const RequestHead& head);

// The value of Repr-Digest: "sha-256=:BASE64:".
class DigestText {
 public:
  explicit DigestText(std::span<const std::uint8_t, 32> sha256);
  std::string_view view() const { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 54> text_;
};

}  // namespace http
