// Comparisons whose names differ between Catch2 2 and 3.
#pragma once

#include <cmath>
#include <string_view>

namespace tests {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Whether the relative difference is at most a millionth.
inline bool is_near(double value, double expected) {
  return std::abs(value - expected) <= 1e-6 * std::abs(expected);
}

}  // namespace tests
