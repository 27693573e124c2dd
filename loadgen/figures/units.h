// The only conversions. loadgen measures in nanoseconds, and reports in milliseconds and seconds.
#pragma once

#include <cstdint>

namespace loadgen {

constexpr double ms_of(double ns) { return ns / 1e6; }
constexpr double seconds_of(double ns) { return ns / 1e9; }

// 0 if `whole` is 0: no time passed, or nothing succeeded.
constexpr double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }
constexpr double ratio(std::uint64_t part, std::uint64_t whole) {
  return ratio(static_cast<double>(part), static_cast<double>(whole));
}

}  // namespace loadgen
