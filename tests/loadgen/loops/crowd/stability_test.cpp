#include "loadgen/loops/crowd/stability.h"

#include "tests/catch.h"

using loadgen::crowd::Stability;

TEST_CASE("the number of users is stable when it has not changed for a time", "[loadgen]") {
  Stability stability(10, 20);
  CHECK_FALSE(stability.observe(100, {.started = 10, .left = 10}));
  CHECK_FALSE(stability.observe(119, {.started = 10, .left = 10}));
  CHECK(stability.observe(120, {.started = 10, .left = 10}));
}

TEST_CASE("a user that drops out begins the time again", "[loadgen]") {
  Stability stability(10, 20);
  CHECK_FALSE(stability.observe(100, {.started = 10, .left = 10}));
  CHECK_FALSE(stability.observe(115, {.started = 10, .left = 9}));
  CHECK_FALSE(stability.observe(134, {.started = 10, .left = 9}));
  CHECK(stability.observe(135, {.started = 10, .left = 9}));
}

TEST_CASE("nothing is stable before all users were started", "[loadgen]") {
  Stability stability(10, 20);
  CHECK_FALSE(stability.observe(100, {.started = 9, .left = 9}));
  CHECK_FALSE(stability.observe(500, {.started = 9, .left = 9}));
  CHECK_FALSE(stability.observe(500, {.started = 10, .left = 9}));
  CHECK(stability.observe(520, {.started = 10, .left = 9}));
}

TEST_CASE("nothing is stable before each user has ended a fetch", "[loadgen]") {
  Stability stability(10, 20);
  CHECK_FALSE(stability.observe(100, {.started = 10, .left = 10, .without_fetch = 1}));
  CHECK_FALSE(stability.observe(200, {.started = 10, .left = 10, .without_fetch = 1}));
  CHECK(stability.observe(201, {.started = 10, .left = 10}));
}

TEST_CASE("where no user holds, nobody waits", "[loadgen]") {
  Stability stability(10, 20);
  CHECK(stability.observe(100, {.started = 10}));
}
