#include "flags/page.h"

#include <fmt/core.h>

#include <algorithm>

#include "flags/wrap.h"

namespace flags {

namespace {

constexpr std::size_t kColumns = 98;

std::string comment(const std::string& text) {
  std::string result;
  for (const std::string& line : wrapped(text, kColumns)) result += "# " + line + "\n";
  return result;
}

// The value in the line of the flag. Empty if it has no default.
std::string template_value(const Option& option) {
  return option.is_switch() ? "false" : option.default_text;
}

// Whether a file may not have both.
bool exclude_each_other(const Option& one, const Option& other) {
  const auto names = [](const Option& option, const Option& excluded) {
    return std::count(option.excluded.begin(), option.excluded.end(), &excluded) > 0;
  };
  return names(one, other) || names(other, one);
}

// Writes the flags one after the other.
class Lines {
 public:
  void add(const Option& option) {
    const bool may_be_given =
        std::none_of(given_.begin(), given_.end(),
                     [&option](const Option* one) { return exclude_each_other(*one, option); });
    const std::string value = may_be_given ? template_value(option) : "";
    if (!value.empty()) given_.push_back(&option);
    const std::string words = value.empty() ? default_of(option) : "";
    const std::string type = option.is_switch() ? "true or false" : option.type;
    text_ += "\n" + comment(fmt::format("{} ({}{})", option.help, type,
                                        words.empty() ? "" : "; by default " + words));
    text_ += fmt::format("# {} ={}{}\n", option.plain_name(), value.empty() ? "" : " ", value);
  }

  void begin(const Group& group) { text_ += fmt::format("\n\n# ---- {} ----\n", group.title); }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<const Option*> given_;  // whose line has a value
};

}  // namespace

std::string config_template(const Page& page) {
  const std::string result = comment(fmt::format(
      "All flags of {0} {1} with their defaults. Take the # away from a line with \"=\" to change "
      "its flag. {0} --config FILE reads this file; the environment and the command line override "
      "it.",
      page.program.name, page.version));
  Lines lines;
  for (const Group& group : page.groups) {
    lines.begin(group);
    for (const Option* const option : group.options) {
      if (option->is_flag()) lines.add(*option);
    }
  }
  return result + lines.text();
}

}  // namespace flags
