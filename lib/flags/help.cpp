#include "flags/page.h"

#include <fmt/core.h>

#include <algorithm>

#include "flags/wrap.h"

namespace flags {

namespace {

constexpr std::size_t kFlagIndent = 2;
constexpr std::size_t kHelpIndent = 6;   // of the full help, below the flag
constexpr std::size_t kHelpColumn = 28;  // of the short help, beside the flag

std::string blanks(std::size_t count) { return std::string(count, ' '); }

// The text in lines of at most `columns`. The first line begins where it is written.
std::string block(const std::string& text, std::size_t indent, std::size_t columns) {
  std::string result;
  for (const std::string& line : wrapped(text, columns - indent))
    result += (result.empty() ? "" : "\n" + blanks(indent)) + line;
  return result + "\n";
}

// All paragraphs, or only the first one.
std::string description_of(const Page& page, std::size_t columns, bool is_whole) {
  const std::string& all = page.program.description;
  std::string result;
  std::size_t begin = 0;
  while (begin < all.size()) {
    const std::size_t end = std::min(all.find("\n\n", begin), all.size());
    result += block(all.substr(begin, end - begin), 0, columns) + "\n";
    if (!is_whole) break;
    begin = end + 2;
  }
  return result;
}

std::string usage_of(const Page& page, std::size_t columns) {
  std::string usage = "Usage: " + page.program.name;
  for (const Group& group : page.groups) {
    for (const Option* const option : group.options) {
      if (!option->is_flag()) usage += " " + form_of(*option);
    }
  }
  return block(usage + " [--FLAG VALUE]...", 0, columns) + "\n";
}

std::string examples_of(const Page& page, std::size_t columns) {
  std::string result;
  for (const Example& example : page.program.examples) {
    result += blanks(2) + block(example.what + ":", 2, columns);
    for (const std::string& line : wrapped_command(example.command, columns - 4))
      result += blanks(4) + line + "\n";
  }
  return result.empty() ? "" : "Examples:\n" + result + "\n";
}

// The names of the choices that a positional argument has are its help, so it is never cut.
std::string first_part(const Option& option) {
  return option.is_flag() ? option.help.substr(0, option.help.find(';')) : option.help;
}

std::string short_entry(const Option& option, std::size_t columns) {
  const std::string form = blanks(kFlagIndent) + form_of(option);
  const std::string value = default_of(option);
  const std::string help = first_part(option) + (value.empty() ? "" : " [" + value + "]");
  const std::size_t begin = std::max(form.size() + 2, kHelpColumn);
  const auto lines = wrapped(help, columns - kHelpColumn, begin - kHelpColumn);
  std::string result = form;
  if (!lines.front().empty()) result += blanks(begin - form.size()) + lines.front();
  for (std::size_t i = 1; i < lines.size(); ++i) result += "\n" + blanks(kHelpColumn) + lines[i];
  return result + "\n";
}

std::string full_entry(const Page& page, const Option& option, std::size_t columns) {
  std::vector<std::string> parts{form_of(option)};
  if (const std::string value = default_of(option); !value.empty())
    parts.push_back("[" + value + "]");
  if (option.is_flag() && option.has_variable)
    parts.push_back(variable_of(page.program.name, option.plain_name()));
  std::string line = blanks(kFlagIndent);
  std::string result;
  for (const std::string& part : parts) {
    if (line.size() + 2 + part.size() > columns) {
      result += line + "\n";
      line = blanks(kHelpIndent) + part;
    } else {
      line += (&part == &parts.front() ? "" : "  ") + part;
    }
  }
  return result + line + "\n" + blanks(kHelpIndent) + block(option.help, kHelpIndent, columns);
}

}  // namespace

std::string short_help(const Page& page, std::size_t columns) {
  std::string result =
      description_of(page, columns, false) + usage_of(page, columns) + examples_of(page, columns);
  std::string left_out;
  for (const Group& group : page.groups) {
    if (group.shown == Shown::kInFullHelp) {
      left_out += (left_out.empty() ? "" : "; ") + group.title;
      continue;
    }
    result += group.title + ":\n";
    for (const Option* const option : group.options) result += short_entry(*option, columns);
    result += "\n";
  }
  const std::string more = left_out.empty()
                               ? " and names the variables"
                               : ", names the variables, and has the groups " + left_out;
  return result +
         block(fmt::format("{} --help=all says more{}.", page.program.name, more), 0, columns);
}

std::string full_help(const Page& page, std::size_t columns) {
  std::string result =
      description_of(page, columns, true) + usage_of(page, columns) + examples_of(page, columns);
  for (const Group& group : page.groups) {
    result += group.title + ":\n";
    for (const Option* const option : group.options) result += full_entry(page, *option, columns);
    result += "\n";
  }
  return result +
         block(
             "The command line overrides the environment, which overrides the file of --config, "
             "which overrides the default, which is in brackets.",
             0, columns);
}

}  // namespace flags
