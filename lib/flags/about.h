// The flags that ask a program about itself: --help and --version.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "flags/arguments.h"
#include "flags/option.h"
#include "flags/program.h"

namespace flags {

// That of this build, such as "0.2.0".
std::string version();

void declare_about(App& common);

// What to print for the first --help or --version among the arguments, whatever else is wrong with
// them. Nothing if there is none; kInvalid if it has a value that it does not take. `app` has the
// program's own options, and `common` those that all programs have.
base::Result<std::optional<std::string>> answer_about(const std::vector<Argument>& arguments,
                                                      const Program& program, const App& app,
                                                      const App& common);

}  // namespace flags
