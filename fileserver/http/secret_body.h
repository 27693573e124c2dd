// A short body with a password in it.
#pragma once

#include <string.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "fileserver/http/request_body.h"

namespace fileserver {

// Overwritten at the end.
struct SecretBody {
  static constexpr std::size_t kMaxBytes = 4096;

  SecretBody() = default;
  ~SecretBody() { ::explicit_bzero(bytes.data(), size); }
  SecretBody(const SecretBody&) = delete;
  SecretBody& operator=(const SecretBody&) = delete;

  // Requires: there is room for it.
  void append(std::string_view piece) {
    size += piece.copy(bytes.data() + size, bytes.size() - size);
  }
  std::span<char> json() { return {bytes.data(), size}; }

  std::array<char, kMaxBytes> bytes;
  std::size_t size = 0;
};

// Reads the body in the time of the head. Returns the status of the answer if it is not whole.
inline Refusal read_secrets(Exchange& exchange, SecretBody& body) {
  exchange.connection().limit_body_to_time_of_head();
  const auto refused = read_body(exchange, SecretBody::kMaxBytes, [&](std::string_view piece) {
    body.append(piece);
    return Refusal();
  });
  if (refused) return refused;
  exchange.stream().request_came();  // from now on it does not give way in the middle
  return exchange.stream().is_over() ? Refusal(http::Status(503)) : Refusal();
}

}  // namespace fileserver
