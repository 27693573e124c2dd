#include "flags/wrap.h"

#include "tests/catch.h"
#include "tests/environment_variable.h"

using flags::wrapped;
using Lines = std::vector<std::string>;

TEST_CASE("text is broken between words", "[flags]") {
  CHECK(wrapped("one two three", 7) == Lines{"one two", "three"});
  CHECK(wrapped("one two three", 6) == Lines{"one", "two", "three"});
  CHECK(wrapped("one  two\nthree", 80) == Lines{"one two three"});
  CHECK(wrapped("", 10) == Lines{""});
}

TEST_CASE("a word that is longer than the line stays whole", "[flags]") {
  CHECK(wrapped("a indivisible b", 5) == Lines{"a", "indivisible", "b"});
  CHECK(wrapped("indivisible", 5) == Lines{"indivisible"});
}

TEST_CASE("the first line may be shorter", "[flags]") {
  CHECK(wrapped("one two three", 7, 4) == Lines{"one", "two", "three"});
  CHECK(wrapped("one two", 7, 5) == Lines{"", "one two"});
}

TEST_CASE("a long command goes on behind a backslash", "[flags]") {
  CHECK(flags::wrapped_command("run --a 1", 9) == Lines{"run --a 1"});
  CHECK(flags::wrapped_command("run --a 1 --b 2", 14) == Lines{"run --a \\", "    1 --b 2"});
}

TEST_CASE("help is as wide as COLUMNS, within bounds", "[flags]") {
  const auto columns = [](const char* told) {
    const tests::EnvironmentVariable variable("COLUMNS", told);
    return flags::columns_for_help();
  };
  CHECK(columns("100") == 100);
  CHECK(columns("20") == 60);
  CHECK(columns("500") == 120);
}
