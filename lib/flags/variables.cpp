#include "flags/variables.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "flags/nearest.h"
#include "flags/page.h"

namespace flags {

namespace {

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
