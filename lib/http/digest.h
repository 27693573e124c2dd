// Content-Digest and Repr-Digest (RFC 9530), as far as sha-256.
#pragma once

#include <array>
#include <cstdint>

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

}  // namespace http
