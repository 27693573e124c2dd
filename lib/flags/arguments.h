// The command line before it is parsed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flags/option.h"

namespace flags {

// One argument. A flag such as "--listen" may have its value behind "=", or as the next argument.
struct Argument {
  std::string text;
  bool is_value = false;           // of the flag in front, whatever it looks like
  const Option* option = nullptr;  // the flag that it names; null if there is none

  // What stands in front of the "=".
  std::string name() const { return text.substr(0, text.find('=')); }

  // Nothing if there is no "=".
  std::optional<std::string> value() const;

  // Whether it looks like a flag.
  bool is_flag() const { return !is_value && text.size() > 1 && text[0] == '-' && text != "--"; }
};

// Finds out what each argument is. Borrows the options of both, which are all that there are.
std::vector<Argument> read_arguments(const std::vector<std::string>& texts, const App& app,
                                     const App& common);

}  // namespace flags
