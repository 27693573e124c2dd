// What --help, the man page and the template of a configuration file are made from.
#pragma once

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

}  // namespace flags
