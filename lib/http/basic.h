// Reads "Authorization: Basic". Base64 without allocation.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace http {

// Decodes base64 with its padding, of the standard alphabet, without blanks, and with zeros in the
// bits that are left over. Returns the number of bytes written to `out`. Nothing if `text` is
// malformed or `out` is too small; `out` may then hold a part.
std::optional<std::size_t> decode_base64(std::string_view text, std::span<char> out);

struct BasicCredentials {
  std::string_view user;  // up to the first colon
  std::string_view password;
};

// Room for the longest credentials that can be right: 64 bytes, a colon, 128 bytes.
inline constexpr std::size_t kMaxBasicBytes = 64 + 1 + 128;

// Reads the value of Authorization. The credentials are decoded into `out`, which they point into;
// the caller overwrites `out` after use, whatever is returned. Nothing for another scheme, for
// malformed base64, without a colon, or if `out` is too small. Control bytes and what makes a user
// name are not looked at: wire::refusal_of() says that.
std::optional<BasicCredentials> parse_basic(std::string_view value, std::span<char> out);

}  // namespace http
