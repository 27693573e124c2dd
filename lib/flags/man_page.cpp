#include "flags/page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "flags/wrap.h"

namespace flags {

namespace {

constexpr std::size_t kCommandColumns = 66;  // of the examples, which are not filled

// Text as roff takes it. A line that begins with a dot or a quote would be a command.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

std::string section(const std::string& title) { return ".SH " + title + "\n"; }

// The first sentence without its full stop, as `apropos` shows it.
std::string summary_of(const Program& program) {
  std::string first = program.description.substr(0, program.description.find_first_of(".\n"));
  if (!first.empty())
    first[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(first[0])));
  return first;
}

std::string name_and_synopsis(const Page& page) {
  const std::string& name = page.program.name;
  std::string result = section("NAME") + escaped(name) + " \\- " +
                       escaped(summary_of(page.program)) + "\n" + section("SYNOPSIS") + bold(name);
  for (const Group& group : page.groups) {
    for (const Option* const option : group.options) {
      if (!option->is_flag()) result += " " + italic(form_of(*option));
    }
  }
  return result + " [" + bold("--FLAG") + " " + italic("VALUE") + "]...\n";
}

std::string description_of(const Program& program) {
  std::string result = section("DESCRIPTION");
  const std::string& all = program.description;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find("\n\n", begin), all.size());
    result += (begin == 0 ? "" : ".PP\n") + escaped(all.substr(begin, end - begin)) + "\n";
    begin = end + 2;
  }
  return result;
}

std::string examples_of(const Program& program) {
  std::string result = program.examples.empty() ? "" : section("EXAMPLES");
  for (const Example& example : program.examples) {
    std::string command;
    for (const std::string& line : wrapped_command(example.command, kCommandColumns))
      command += escaped(line) + "\n";
    if (&example != &program.examples.front()) result += ".PP\n";
    result += fmt::format("{}:\n.PP\n.RS 4\n.nf\n{}.fi\n.RE\n", escaped(example.what), command);
  }
  return result;
}

// "--root DIR" with its name in bold and the rest in italics.
std::string tag_of(const Option& option) {
  if (!option.is_flag()) return italic(form_of(option));
  return bold(option.name) +
         (option.type.empty() ? ""
                              : (option.type.starts_with('[') ? "" : " ") + italic(option.type));
}

std::string options_of(const Page& page) {
  std::string result = section("OPTIONS");
  for (const Group& group : page.groups) {
    result += fmt::format(".SS {}\n", escaped(group.title));
    for (const Option* const option : group.options) {
      result += fmt::format(".TP\n{}\n{}.", tag_of(*option), escaped(option->help));
      if (const std::string value = default_of(*option); !value.empty())
        result += fmt::format(" Default: {}.", bold(value));
      if (option->is_flag() && option->has_variable) {
        result += fmt::format(" Variable: {}.",
                              bold(variable_of(page.program.name, option->plain_name())));
      }
      result += "\n";
    }
  }
  return result;
}

std::string environment_of(const Program& program) {
  return section("ENVIRONMENT") +
         fmt::format(
             "Each flag has a variable, which is named with it above: {} and the name of the flag "
             "in capital letters, with _ for \\-. A switch is {} or {} there. An empty variable "
             "counts as not set. The command line overrides the environment, which overrides the "
             "file of {}, which overrides the default.\n",
             bold(variable_of(program.name, "")), bold("true"), bold("false"), bold("--config")) +
         fmt::format(".TP\n{}\nThe width of what {} prints.\n", bold("COLUMNS"), bold("--help"));
}

// What the flags with paths name.
std::string files_of(const Page& page) {
  std::string result = section("FILES");
  for (const Group& group : page.groups) {
    for (const Option* const option : group.options) {
      if (option->type != "FILE" && option->type != "DIR") continue;
      const std::string& path = option->default_text;
      result += fmt::format(".TP\n{}\n{}.\n", path.empty() ? tag_of(*option) : italic(path),
                            path.empty() ? escaped(option->help)
                                         : fmt::format("The default of {}: {}", bold(option->name),
                                                       escaped(option->help)));
    }
  }
  return result;
}

std::string exit_status() {
  return section("EXIT STATUS") +
         ".TP\n.B 0\nDone.\n.TP\n.B 1\nFailed. The last line on standard error says why.\n"
         ".TP\n.B 2\nWrong usage. The only line on standard error says what is wrong.\n";
}

std::string see_also(const Program& program) {
  std::string list;
  for (const std::string& one : program.see_also) {
    const std::size_t bracket = one.find('(');
    list += (list.empty() ? "" : ", ") + bold(one.substr(0, bracket)) + one.substr(bracket);
  }
  return list.empty() ? "" : section("SEE ALSO") + list + "\n";
}

}  // namespace

std::string man_page(const Page& page) {
  return fmt::format(".TH {} {} \"\" \"Turnstile {}\" \"Turnstile\"\n.nh\n.ad l\n",
                     upper(page.program.name), page.program.man_section, page.version) +
         name_and_synopsis(page) + description_of(page.program) + examples_of(page.program) +
         options_of(page) + environment_of(page.program) + files_of(page) + exit_status() +
         see_also(page.program);
}

}  // namespace flags
