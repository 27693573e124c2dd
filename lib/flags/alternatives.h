// Flags that set the same thing in two ways, such as a password and the file that contains it.
//
// The command line overrides the environment, which overrides the file. This holds across the two
// flags too: a flag that is given in one layer resets the other flag's value from a lower layer.
#pragma once

#include <functional>
#include <vector>

#include "flags/option.h"

namespace flags {

struct Alternative {
  Option* option;
  std::function<void()> forget;  // resets what the option has written to its default
};

// Giving two of these flags in one layer becomes wrong usage.
void exclude_each_other(const std::vector<Option*>& options);

// Makes two flags alternatives. Giving both in one layer is wrong usage.
void make_alternatives(const Alternative& one, const Alternative& other);

// Makes `option` reset another flag's value by `forget`. If one layer gives both flags, the other
// one wins, provided that it is declared later.
void forget_when_taken(Option* option, const std::function<void()>& forget);

}  // namespace flags
