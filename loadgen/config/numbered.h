// Texts that the user gives with a mark for a number: the names of accounts and of files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace loadgen {

// The number of the file that thread `thread` asks for with its request `request`; both count from
// 0. Thread t owns the numbers t*count+1 to (t+1)*count. It asks for them in order and then starts
// over, so no two threads ever ask for the same file.
std::int64_t file_number(int thread, int count, std::int64_t request);

// Stands for a number in a text that the user gives.
inline constexpr std::string_view kNumberMark = "%d";

bool has_number(std::string_view pattern);

// `pattern` with every mark replaced by `number`.
std::string numbered(std::string_view pattern, std::int64_t number);

}  // namespace loadgen
