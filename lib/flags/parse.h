// Parses the flags of a program from a file, the environment and the command line.
//
// A flag is declared once, as an Option that writes into the program's Config. Each flag can also
// be given by the variable PROGRAM_FLAG_NAME, and by a line `flag-name = value` in the file that
// --config names. The command line overrides the environment, which overrides the file, which
// overrides the default. A value that is not accepted is wrong usage, even if a higher layer
// overrides it. A flag that does not exist is answered with the one that was probably meant.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "flags/option.h"
#include "flags/program.h"

namespace flags {

// Exit statuses.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;

// Declares the program's flags, which write into its Config. Called once.
using Declare = std::function<void(App&)>;

// Checks the values against each other. Returns one line that says what is wrong, or nothing.
// Called last. settings_of() may be asked then.
using Check = std::function<std::optional<std::string>(App&)>;

// Returns nothing if the program can go on. Otherwise returns its exit status: kDone after printing
// --help or --version, kWrongUsage after printing one line on standard error.
//
// A variable that begins with the program's name and is no flag gets a warning in the log. So does
// a file with a password in it that every user of the machine may read.
//
// The values of --...password flags are overwritten in `argv`, so that the list of processes does
// not show them. Requires: the variables that Declare names hold their defaults.
std::optional<int> parse(const Program& program, int argc, char** argv, const Declare& declare,
                         const Check& check);

}  // namespace flags
