#include "loadgen/figures/progress.h"

#include "tests/catch.h"

using loadgen::crowd_line;
using loadgen::sparkline;

TEST_CASE("a sparkline has a bar for each value, the highest for the highest", "[loadgen]") {
  CHECK(sparkline({}).empty());
  CHECK(sparkline({1, 4, 8}) == "▂▅█");
  CHECK(sparkline({5, 5}) == "██");
}

TEST_CASE("a sparkline of nothing but zeros is flat", "[loadgen]") {
  CHECK(sparkline({0, 0}) == "▁▁");
}

TEST_CASE("the progress of a crowd is its users, its drop-outs and its bytes", "[loadgen]") {
  CHECK(crowd_line(7, {.started = 100, .left = 98}, 12'300) ==
        "   7 s      98 users       2 dropped out   12.3 KB/s  ");
}
