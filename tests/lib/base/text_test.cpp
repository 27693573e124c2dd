#include "base/text.h"

#include "tests/catch.h"

TEST_CASE("blanks around a text are cut off, those in it stay", "[base]") {
  CHECK(base::trimmed("a") == "a");
  CHECK(base::trimmed("\t a b \t") == "a b");
  CHECK(base::trimmed(" \r").size() == 1);
  CHECK(base::trimmed(" \t").empty());
  CHECK(base::trimmed("").empty());
}

TEST_CASE("what counts as a blank can be said", "[base]") {
  CHECK(base::trimmed(" a\r", " \t\r") == "a");
  CHECK(base::trimmed("\r", " \t\r").empty());
}

TEST_CASE("only ASCII digits are digits", "[base]") {
  int digits = 0;
  for (int value = 0; value < 256; ++value) digits += base::is_digit(static_cast<char>(value));
  CHECK(digits == 10);
  CHECK(base::is_digit('0'));
  CHECK(base::is_digit('9'));
}
