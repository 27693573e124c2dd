#include "flags/nearest.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "flags/page.h"

namespace flags {

namespace {

// Half of a short name may be wrong. In a long one three letters are many.
std::size_t most_typos(std::size_t length) { return std::min<std::size_t>(length / 2, 3); }

// Compose has FILESERVER_CPUS. In Kubernetes, a service with the name fileserver puts
// FILESERVER_SERVICE_HOST into each container.
bool is_of_others(std::string_view ending) {
  return ending == "CPUS" || ending == "MEMORY" || ending == "PORT" ||
         ending.starts_with("PORT_") || ending.starts_with("SERVICE_");
}

// Other bytes could mislead the reader of a log, and no flag has them.
bool is_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::vector<std::string> variables_of(const std::string& program, const App& app,
                                      const App& common) {
  std::vector<std::string> names;
  for (const App* const one : {&app, &common}) {
    for (const Option& option : one->options()) {
      if (option.is_flag() && option.has_variable)
        names.push_back(variable_of(program, option.plain_name()));
    }
  }
  return names;
}

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

std::vector<std::string> unknown_variables(const std::string& program, const App& app,
                                           const App& common) {
  const std::string prefix = variable_of(program, "");
  const auto known = variables_of(program, app, common);
  std::vector<std::string> endings;
  endings.reserve(known.size());
  for (const std::string& name : known) endings.push_back(name.substr(prefix.size()));

  std::vector<std::string> lines;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const std::string name(variable.substr(0, variable.find('=')));
    if (!name.starts_with(prefix) || !is_word(name)) continue;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string ending = name.substr(prefix.size());
    if (is_of_others(ending)) continue;
    const std::string meant = nearest(ending, endings);
    const std::string hint =
        meant.empty() ? "" : fmt::format("; did you mean {}{}?", prefix, meant);
    lines.push_back(fmt::format("{} is no flag of {}{}", name, program, hint));
  }
  return lines;
}

}  // namespace flags
