#include "flags/nearest.h"

#include <algorithm>

namespace flags {

namespace {

// Half of a short name may be wrong. In a long one three letters are many.
std::size_t most_typos(std::size_t length) { return std::min<std::size_t>(length / 2, 3); }

}  // namespace

std::size_t edit_distance(std::string_view one, std::string_view other) {
  const std::size_t columns = other.size() + 1;
  std::vector<std::vector<std::size_t>> steps(one.size() + 1, std::vector<std::size_t>(columns));
  for (std::size_t i = 0; i <= one.size(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      std::size_t& least = steps[i][j];
      if (i == 0 || j == 0) {
        least = i + j;
        continue;
      }
      const std::size_t replaced = one[i - 1] == other[j - 1] ? 0 : 1;
      least = std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, steps[i - 1][j - 1] + replaced});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        least = std::min(least, steps[i - 2][j - 2] + 1);
    }
  }
  return steps[one.size()][other.size()];
}

std::string nearest(std::string_view typed, const std::vector<std::string>& names) {
  constexpr std::size_t kLongestName = 64;  // a longer text is no typo
  if (typed.size() > kLongestName) return {};
  std::string best;
  std::size_t fewest = most_typos(typed.size()) + 1;
  for (const std::string& name : names) {
    const std::size_t typos = edit_distance(typed, name);
    if (typos >= fewest) continue;
    fewest = typos;
    best = name;
  }
  if (!best.empty() || typed.size() < 3) return best;
  const auto longer = std::find_if(names.begin(), names.end(), [typed](const std::string& name) {
    return name.starts_with(typed);
  });
  return longer == names.end() ? std::string() : *longer;
}

}  // namespace flags
