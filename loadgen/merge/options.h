// What the user decides about `loadgen merge`.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace loadgen::merge {

struct Options {
  std::vector<std::string> results;  // the files that are added up
  std::string json;                  // as in Config
  std::string distribution;          // as in Config
};

// Whether the command line is `loadgen merge ...`.
bool is_asked_for(int argc, char** argv);

// Reads the rest of that command line, as read_config() does.
std::variant<Options, int> read_options(int argc, char** argv);

}  // namespace loadgen::merge
