// What a program says about itself in --help and in its man page.
#pragma once

#include <string>
#include <vector>

namespace flags {

// A command, and a line that says what it does.
struct Example {
  std::string what;
  std::string command;
};

// A flag that the program had once.
struct RemovedFlag {
  std::string name;         // without dashes
  std::string replacement;  // what to write instead
};

struct Program {
  std::string name;  // "fileserver"

  // Paragraphs with an empty line between them. The short help shows the first one.
  std::string description;

  std::vector<Example> examples = {};
  int man_section = 8;
  std::vector<std::string> see_also = {};  // such as "loadgen(1)"

  // Wrong usage wherever one is given, with a line that says what to write instead. Otherwise a
  // variable that has lost its meaning would only be a warning.
  std::vector<RemovedFlag> removed = {};
};

}  // namespace flags
