// Reading text files line by line.
#pragma once

#include <cstddef>
#include <istream>
#include <string>

namespace base {

inline constexpr std::size_t kMaxTextLineBytes = 64 * 1024;

// As std::getline(), but a line may have at most kMaxTextLineBytes. A longer one is an error of the
// file: `in` is bad() then, and errno is EMSGSIZE. So no file can make a program use up its memory.
std::istream& read_line(std::istream& in, std::string& line);

}  // namespace base
