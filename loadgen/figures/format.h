// How the reports write numbers and rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace loadgen {

// To six digits behind the point: a nanosecond, where the unit is a millisecond. Further digits
// would only pretend to be exact.
double rounded(double value);

// "9,121"
std::string grouped(std::uint64_t number);

// A row of a table, with its line ending. An empty name continues the row before.
std::string row(std::string_view name, std::string_view text);

// "1 thread", "2 threads"
std::string counted(std::uint64_t count, std::string_view thing);

}  // namespace loadgen
