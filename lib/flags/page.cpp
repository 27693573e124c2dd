#include "flags/page.h"

#include <algorithm>
#include <cctype>

namespace flags {

std::vector<Group> groups_of(const App& app) {
  std::vector<Group> groups;
  for (const Option& option : app.options()) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& one) { return one.title == option.group; });
    if (group == groups.end())
      group = groups.insert(groups.end(), {option.group, option.shown, {}});
    group->options.push_back(&option);
  }
  return groups;
}

std::string form_of(const Option& option) {
  if (!option.is_flag()) return option.type;
  return option.type.empty() || option.type.starts_with('[') ? option.name + option.type
                                                             : option.name + " " + option.type;
}

std::string default_of(const Option& option) {
  return option.default_words.empty() ? option.default_text : option.default_words;
}

std::string variable_of(const std::string& program, const std::string& plain_name) {
  std::string name = program + "_" + plain_name;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(std::toupper(c));
  });
  return name;
}

}  // namespace flags
