// UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

// What a text begins with: a character, or malformed bytes.
struct Utf8Front {
  std::size_t size_bytes;
  std::optional<std::uint32_t> code;  // nothing: malformed
};

// Malformed bytes are one piece as far as a character could begin so, and at least one byte. It is
// how Unicode recommends to count what becomes U+FFFD (section 3.9). Requires: !text.empty().
Utf8Front utf8_front(std::string_view text);

// Whether the text is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

// The text with U+FFFD for each byte that is not part of well-formed UTF-8.
std::string as_utf8(std::string_view text);

}  // namespace base
