// The help, the man page and the template of a configuration file, and what they are made from.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "flags/option.h"
#include "flags/program.h"

namespace flags {

struct Group {
  std::string title;
  Shown shown = Shown::kInEveryHelp;
  std::vector<const Option*> options;
};

// Borrows the program and the options, which must outlive it.
struct Page {
  const Program& program;
  std::string version;  // "0.2.0"
  std::vector<Group> groups;
};

// The options of `app` by their groups, in the order of the first option of each.
std::vector<Group> groups_of(const App& app);

// A flag as it is given, such as "--root DIR". A positional argument is only its type.
std::string form_of(const Option& option);

// What the option is when nobody gives it. Empty if there is nothing to say.
std::string default_of(const Option& option);

// The variable that sets the flag, such as FILESERVER_IDLE_TIMEOUT.
std::string variable_of(const std::string& program, const std::string& plain_name);

// What --help prints: what most readers need. That is the first paragraph, the examples, and the
// flags with their defaults and with the first part of their help, which ends at a semicolon.
// Leaves out the groups that are only in the full help, and says so. No line is longer than
// `columns`.
std::string short_help(const Page& page, std::size_t columns);

// What --help=all prints: the whole description, and every flag with all of its help, its default
// and its variable.
std::string full_help(const Page& page, std::size_t columns);

// What --help=man prints: the manual page, for `man`, as roff with the macros of man(7).
std::string man_page(const Page& page);

// What --help=config prints: a file for --config in which every flag is a comment. Each has its
// help, and a line such as `# listen = 127.0.0.1:9000` with its default. A flag without one has
// nothing behind the "=". The lines with a value can all be given together.
std::string config_template(const Page& page);

}  // namespace flags
