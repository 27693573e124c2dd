// Flags that say one thing in two ways, such as a password and the file that holds it.
//
// What takes one flag forgets the other, so that the higher layer's word counts, whichever flag it
// uses.
#pragma once

#include <functional>

#include "flags/option.h"

namespace flags {

struct Alternative {
  Option* option;
  std::function<void()> forget;  // puts back the default of what the option writes into
};

// Both in one layer are wrong usage.
void make_alternatives(const Alternative& one, const Alternative& other);

// For a flag that another one beats where a layer gives both: `forget` is for the other one, which
// is declared later.
void forget_when_taken(Option* option, const std::function<void()>& forget);

}  // namespace flags
