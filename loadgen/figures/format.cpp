#include "loadgen/figures/format.h"

#include <fmt/core.h>

#include <cmath>

namespace loadgen {

double rounded(double value) { return std::round(value * 1e6) / 1e6; }

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string row(std::string_view name, std::string_view text) {
  return fmt::format("  {:<15}{}\n", name, text);
}

std::string counted(std::uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

}  // namespace loadgen
