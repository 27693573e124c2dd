// Sizes and times as people write them on a command line, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

// Reads "4096", "64K", "512M" or "2G"; the units are powers of 1024. Returns nothing for any other
// text and for a size that does not fit in 63 bits.
std::optional<std::int64_t> parse_size_bytes(std::string_view text);

// Reads a number of seconds such as "2" or "0.25", and returns it in milliseconds. A time above
// zero is at least 1 ms. Returns nothing for any other text and for more than ten years.
std::optional<std::int64_t> parse_seconds_as_ms(std::string_view text);

// Returns a size for people, such as "1.5 GB"; the units are powers of 1000.
std::string human_bytes(double bytes);

}  // namespace base
