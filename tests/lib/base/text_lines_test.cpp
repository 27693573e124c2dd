#include "base/text_lines.h"

#include <cerrno>
#include <sstream>
#include <vector>

#include "tests/catch.h"

namespace {

std::vector<std::string> lines_of(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; base::read_line(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("lines are read as std::getline() reads them", "[base]") {
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("a"), std::string("a\n"),
        std::string("a\n\nb\r\nc"), std::string("a\0b\nc\n", 6)}) {
    std::istringstream ours(text), theirs(text);
    std::vector<std::string> expected;
    for (std::string line; std::getline(theirs, line);) expected.push_back(line);
    CHECK(lines_of(ours) == expected);
    CHECK_FALSE(ours.bad());
  }
}

TEST_CASE("a line has a limit", "[base]") {
  const std::string longest(base::kMaxTextLineBytes, 'x');
  for (const char* end : {"", "\n", "\nmore\n"}) {
    std::istringstream fits(longest + end);
    CHECK(lines_of(fits).front() == longest);
    CHECK_FALSE(fits.bad());
  }
  std::istringstream too_long("first\n" + longest + "x\nlast\n");
  errno = 0;
  CHECK(lines_of(too_long) == std::vector<std::string>{"first"});
  CHECK(too_long.bad());
  CHECK(errno == EMSGSIZE);
}
