#include "loadgen/config/think.h"

#include <string>

#include "tests/catch.h"

using loadgen::parse_think_time;
using loadgen::ThinkKind;
using loadgen::ThinkTime;

TEST_CASE("--think is fixed or exp, with its mean", "[loadgen]") {
  CHECK(parse_think_time("fixed:2") == ThinkTime{ThinkKind::kFixed, 2});
  CHECK(parse_think_time("exp:0.001") == ThinkTime{ThinkKind::kExponential, 0.001});
  CHECK(parse_think_time("exp:3600") == ThinkTime{ThinkKind::kExponential, 3600});
  for (const std::string wrong : {"", "none", "2", "exp", "exp:", "exp:x", "exp:0", "fixed:0.0009",
                                  "exp:3601", "exp:nan", "exp:1s", "fixed:-1", "Fixed:1"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_think_time(wrong));
  }
}

TEST_CASE("a think time is shown as it was asked for", "[loadgen]") {
  CHECK(text_of(ThinkTime()) == "none");
  CHECK(text_of(*parse_think_time("exp:0.25")) == "exp:0.25");
  CHECK(text_of(*parse_think_time("fixed:10")) == "fixed:10");
}
