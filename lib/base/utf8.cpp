#include "base/utf8.h"

#include <algorithm>

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

// Whether a character can begin with these bits. `missing` bytes of the sequence are not read yet.
bool can_go_on(const Sequence& sequence, std::size_t missing) {
  const std::uint32_t lowest = sequence.code << 6 * missing;
  const std::uint32_t highest = lowest + (1U << 6 * missing) - 1;
  const bool is_surrogate = lowest >= 0xd800 && highest < 0xe000;
  return highest >= sequence.least && !is_surrogate && lowest <= 0x10ffff;
}

}  // namespace

Utf8Front utf8_front(std::string_view text) {
  Sequence sequence = sequence_of(static_cast<unsigned char>(text.front()));
  if (sequence.size_bytes == 0) return {1, {}};
  for (std::size_t read = 1;; ++read) {
    const std::size_t missing = sequence.size_bytes - read;
    if (!can_go_on(sequence, missing)) return {std::max<std::size_t>(read - 1, 1), {}};
    if (missing == 0) return {read, sequence.code};
    const auto byte = static_cast<unsigned char>(read < text.size() ? text[read] : 0);
    if (byte >> 6 != 2) return {read, {}};
    sequence.code = sequence.code << 6 | (byte & 0x3fU);
  }
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto [size_bytes, code] = utf8_front(text);
    if (!code) return false;
    text.remove_prefix(size_bytes);
  }
  return true;
}

std::string as_utf8(std::string_view text) {
  std::string made;
  while (!text.empty()) {
    const auto [size_bytes, code] = utf8_front(text);
    made += code ? text.substr(0, size_bytes) : std::string_view("\xef\xbf\xbd");
    text.remove_prefix(code ? size_bytes : 1);
  }
  return made;
}

}  // namespace base
