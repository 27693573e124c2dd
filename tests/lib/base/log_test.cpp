#include "base/log.h"

#include "tests/catch.h"

TEST_CASE("bytes from a peer cannot break a log line", "[base]") {
  CHECK(base::log::quoted("a.txt") == "\"a.txt\"");
  CHECK(base::log::quoted("a\nb\"\\\xff") == R"("a\x0ab\x22\x5c\xff")");
  CHECK(base::log::quoted_long("a\nb") == R"("a\x0ab")");
}

TEST_CASE("long text from a peer is cut in the log, a path only if it is very long", "[base]") {
  CHECK(base::log::quoted(std::string(81, 'x')) == "\"" + std::string(80, 'x') + "\"...");
  CHECK(base::log::quoted_long(std::string(1000, 'x')) == "\"" + std::string(1000, 'x') + "\"");
  CHECK(base::log::quoted_long(std::string(1001, 'x')) == "\"" + std::string(1000, 'x') + "\"...");
}
