// One program's flags, from a file, the environment and the command line.
//
// A flag is declared once, as an Option that writes into the program's Config. Its variable is
// PROGRAM_FLAG_NAME, its line in a --config file `flag-name = value`. The command line beats the
// environment, which beats the file, which beats the default; that holds too where two flags say
// one thing in two ways (alternatives.h). A value that is not acceptable is wrong usage wherever it
// stands.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "flags/option.h"

namespace flags {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;

struct Program {
  std::string name;         // "fileserver"
  std::string description;  // what --help begins with
};

// Declares the program's flags, which write into its Config. Called once.
using Declare = std::function<void(App&)>;

// Whether the values go together: what is wrong in one line, or nothing. Called last.
using Check = std::function<std::optional<std::string>()>;

// Nothing when the program shall go on, else its exit status: --help and --version have been
// printed on standard output, or what is wrong as the one line on standard error. Requires: what
// Declare binds to holds its defaults.
std::optional<int> parse(const Program& program, int argc, char** argv, const Declare& declare,
                         const Check& check);

}  // namespace flags
