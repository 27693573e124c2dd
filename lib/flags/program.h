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

struct Program {
  std::string name;  // "fileserver"

  // Paragraphs with an empty line between them. The short help shows the first one.
  std::string description;

  std::vector<Example> examples = {};
  int man_section = 8;
  std::vector<std::string> see_also = {};  // such as "loadgen(1)"
};

}  // namespace flags
