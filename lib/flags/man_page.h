// What --help=man prints.
#pragma once

#include <string>

#include "flags/page.h"

namespace flags {

// The manual page, for `man`: roff with the macros of man(7).
std::string man_page(const Page& page);

}  // namespace flags
