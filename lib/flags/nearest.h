// Guesses which name was meant by one that does not exist: of a flag, or of a variable that begins
// as those of a program do, but sets no flag.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flags/option.h"

namespace flags {

// The name that is so close to `typed` that it was probably meant, or that begins with it. Empty if
// there is none.
std::string nearest(std::string_view typed, const std::vector<std::string>& names);

// How many letters must be inserted, removed, replaced, or swapped with the next one.
std::size_t edit_distance(std::string_view one, std::string_view other);

// A line for each variable that is probably a misspelt flag of the program: its name and, if there
// is one with a similar name, that one. No value is shown. Leaves out what docker-compose.yml and
// Kubernetes call alike. `app` has the program's own options, and `common` those of all programs.
std::vector<std::string> unknown_variables(const std::string& program, const App& app,
                                           const App& common);

}  // namespace flags
