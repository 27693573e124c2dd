// Which file a thread asks for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace loadgen {

// The number that thread `thread` (from 0) asks for with its request `request` (from 0): its own
// `count` numbers, in order, again and again. No two threads ever share one.
std::int64_t file_number(int thread, int count, std::int64_t request);

// What stands in a file name for the number.
inline constexpr std::string_view kNumberMark = "%d";

bool has_number(std::string_view pattern);

// `pattern` with the number for each mark.
std::string file_name(std::string_view pattern, std::int64_t number);

}  // namespace loadgen
