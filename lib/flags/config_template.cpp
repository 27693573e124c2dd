#include "flags/config_template.h"

#include <fmt/format.h>

#include "flags/wrap.h"

namespace flags {

namespace {

constexpr std::size_t kColumns = 98;

std::string comment(const std::string& text) {
  std::string result;
  for (const std::string& line : wrapped(text, kColumns)) result += "# " + line + "\n";
  return result;
}

// What stands above the line of the flag.
std::string help_of(const Option& option) {
  if (option.is_switch()) return option.help + " (true or false)";
  if (!option.default_words.empty())
    return fmt::format("{} ({}; by default {})", option.help, option.type, option.default_words);
  return fmt::format("{} ({})", option.help, option.type);
}

std::string line_of(const Option& option) {
  const std::string value = option.is_switch() ? "false" : option.default_text;
  return fmt::format("# {} ={}{}\n", option.plain_name(), value.empty() ? "" : " ", value);
}

}  // namespace

std::string config_template(const Page& page) {
  std::string result = comment(fmt::format(
      "All flags of {0} {1} with their defaults. Take the # away from a line with \"=\" to change "
      "its flag. {0} --config FILE reads this file; the environment and the command line override "
      "it.",
      page.program.name, page.version));
  for (const Group& group : page.groups) {
    result += fmt::format("\n\n# ---- {} ----\n", group.title);
    for (const Option* const option : group.options) {
      if (option->is_flag()) result += "\n" + comment(help_of(*option)) + line_of(*option);
    }
  }
  return result;
}

}  // namespace flags
