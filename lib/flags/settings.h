// What the flags of a program are set to, for its reports.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "flags/option.h"

namespace flags {

// The name has no dashes. A text is as the user wrote it, or the default. Nothing: there is no
// value, because nobody gave one and there is no default, or because its alternative was given.
struct Setting {
  std::string name;
  std::variant<std::monostate, bool, std::int64_t, double, std::string> value = {};
};

// All flags of `app` in the order of their declaration, but no password. Requires: parse() has
// called Check.
std::vector<Setting> settings_of(const App& app);

}  // namespace flags
