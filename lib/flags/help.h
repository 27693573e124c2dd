// What --help and --help=all print.
#pragma once

#include <string>

#include "flags/page.h"

namespace flags {

// What most readers need: the first paragraph, the examples, and the flags with their defaults and
// with the first part of their help, which ends at a semicolon. Leaves out the groups that are only
// in the full help, and says so. No line is longer than `columns`.
std::string short_help(const Page& page, std::size_t columns);

// The whole description, and every flag with all of its help, its default and its variable.
std::string full_help(const Page& page, std::size_t columns);

}  // namespace flags
