#include "base/utf8.h"

#include <cstddef>
#include <cstdint>

namespace base {

namespace {

struct Sequence {
  std::size_t size_bytes;  // 0: no sequence begins with this byte
  std::uint32_t code;      // the bits of the first byte
  std::uint32_t least;     // a smaller code has a shorter sequence
};

Sequence sequence_of(unsigned char first) {
  if (first < 0x80) return {1, first, 0};
  if (first >> 5 == 0x06) return {2, first & 0x1fU, 0x80};
  if (first >> 4 == 0x0e) return {3, first & 0x0fU, 0x800};
  if (first >> 3 == 0x1e) return {4, first & 0x07U, 0x10000};
  return {0, 0, 0};
}

// How many bytes the well-formed sequence at the start has; 0: there is none.
std::size_t first_sequence_bytes(std::string_view text) {
  auto [size, code, least] = sequence_of(static_cast<unsigned char>(text.front()));
  if (size == 0 || size > text.size()) return 0;
  for (const char c : text.substr(1, size - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >> 6 != 2) return 0;
    code = code << 6 | (byte & 0x3fU);
  }
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code < least || is_surrogate || code > 0x10ffff ? 0 : size;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = first_sequence_bytes(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string as_utf8(std::string_view text) {
  std::string made;
  while (!text.empty()) {
    const std::size_t size = first_sequence_bytes(text);
    made += size == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return made;
}

}  // namespace base
