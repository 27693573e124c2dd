// The Range field. No sockets, no clock.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace http {

// After joining. More are answered with the whole file.
inline constexpr std::size_t kMaxParts = 16;

struct ByteRange {
  std::uint64_t begin;
  std::uint64_t end;  // one past the last byte

  std::uint64_t size_bytes() const { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

struct Ranges {
  enum class Kind : std::uint8_t {
    kWhole,          // 200: not understood, too many parts, or parts that are more than the file
    kParts,          // 206: parts has 1 to kMaxParts, by their first byte, with gaps between them
    kUnsatisfiable,  // 416
  };
  Kind kind = Kind::kWhole;
  std::vector<ByteRange> parts = {};
};

// Reads the value of a Range field that came once, for a file of `size_bytes`.
Ranges parse_ranges(std::string_view value, std::uint64_t size_bytes);

}  // namespace http
