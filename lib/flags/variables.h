// Environment variables that begin as those of a program do, but set no flag.
#pragma once

#include <string>
#include <vector>

#include "flags/option.h"

namespace flags {

// A line for each variable that is probably a misspelt flag of the program: its name and, if there
// is one with a similar name, that one. No value is shown. Leaves out what docker-compose.yml and
// Kubernetes call alike. `app` has the program's own options, and `common` those of all programs.
std::vector<std::string> unknown_variables(const std::string& program, const App& app,
                                           const App& common);

}  // namespace flags
