// Sizes and times as people write them on a command line, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

// "4096", "64K", "512M", "2G" (1024 each). Nothing for anything else, or for what does not fit in
// 63 bits.
std::optional<std::int64_t> parse_size_bytes(std::string_view text);

// "2" or "0.25" seconds, as milliseconds. Nothing for anything else, a negative time, or more than
// ten years.
std::optional<std::int64_t> parse_seconds_as_ms(std::string_view text);

// "1.5 GB" (1000 each), for people.
std::string human_bytes(double bytes);

}  // namespace base
