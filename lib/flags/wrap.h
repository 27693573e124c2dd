// Breaks text into lines for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flags {

// The lines of a text, none over `width` bytes, broken between words. A word that is longer has a
// line of its own. Never empty. The first line is shorter by `taken`.
std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::size_t taken = 0);

// The same for a command of the shell: each line but the last ends with " \", and all lines after
// the first are indented.
std::vector<std::string> wrapped_command(std::string_view command, std::size_t width);

// How many columns help may take: those of COLUMNS, or of the terminal that standard output is, or
// 80. At least 60 and at most 120.
std::size_t columns_for_help();

}  // namespace flags
