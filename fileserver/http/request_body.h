// The body of a request, piece by piece and bounded.
#pragma once

#include <cstdint>
#include <optional>

#include "fileserver/http/exchange.h"

namespace fileserver {

// The status that a request is answered with if it is refused.
using Refusal = std::optional<http::Status>;

// Nothing for a body in chunks, whose size nobody knows yet.
inline std::optional<std::uint64_t> announced_size(const http::Body& body) {
  if (body.kind == http::Body::Kind::kChunked) return {};
  return body.size_bytes;
}

// Gives each piece of the body to take(piece), until that refuses the request. Returns nothing at
// the end of the body, and 413 if there are more bytes than `most_bytes`. The head of the request
// is not valid any more.
template <typename Take>
Refusal read_body(Exchange& exchange, std::uint64_t most_bytes, Take take) {
  if (announced_size(exchange.head().body()).value_or(0) > most_bytes) return http::Status(413);
  for (std::uint64_t left = most_bytes;;) {
    const auto piece = exchange.connection().next_body_piece();
    if (!piece) return exchange.connection().status_of_broken_body();
    if (piece->empty()) return {};
    if (piece->size() > left) return http::Status(413);
    left -= piece->size();
    if (const Refusal refusal = take(*piece)) return refusal;
  }
}

}  // namespace fileserver
