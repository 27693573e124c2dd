// Parses the head of an HTTP request, as far as telemetry needs it. No sockets, no clock.
#pragma once

#include <cstddef>
#include <string_view>

namespace telemetry {

// The longest head, from the method to its last CRLF.
inline constexpr std::size_t kMaxHeadBytes = 8 * 1024;

// What to answer to the bytes that have come so far.
struct HttpHead {
  int status = 0;              // 0: the head is not complete; 200: see below; else the error
  bool is_head = false;        // HEAD instead of GET
  std::string_view path = {};  // without the query; points into the bytes
};

// The status is 200 for any well-formed GET or HEAD, whatever its path. 405 is for other methods,
// 400 for what is malformed, 414 for a target and 431 for fields that make the head too long, and
// 505 for a version that is not 1.x. One empty line before the request is skipped.
HttpHead parse_http_head(std::string_view received);

}  // namespace telemetry
