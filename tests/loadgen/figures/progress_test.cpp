#include "loadgen/figures/progress.h"

#include "tests/catch.h"

using loadgen::sparkline;

TEST_CASE("a sparkline has a bar for each value, the highest for the highest", "[loadgen]") {
  CHECK(sparkline({}).empty());
  CHECK(sparkline({1, 4, 8}) == "▂▅█");
  CHECK(sparkline({5, 5}) == "██");
}

TEST_CASE("a sparkline of nothing but zeros is flat", "[loadgen]") {
  CHECK(sparkline({0, 0}) == "▁▁");
}
