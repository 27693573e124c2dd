#include "base/text_lines.h"

#include <array>
#include <cerrno>

namespace base {

std::istream& read_line(std::istream& in, std::string& line) {
  std::array<char, kMaxTextLineBytes + 1> buffer;  // with the NUL at the end
  in.getline(buffer.data(), buffer.size());
  const auto taken = static_cast<std::size_t>(in.gcount());
  if (in.fail() && taken == buffer.size() - 1) {
    in.setstate(std::ios::badbit);
    errno = EMSGSIZE;
  }
  if (!in.fail()) line.assign(buffer.data(), in.eof() ? taken : taken - 1);
  return in;
}

}  // namespace base
