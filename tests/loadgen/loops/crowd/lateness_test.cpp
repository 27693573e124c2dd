#include "loadgen/loops/crowd/lateness.h"

#include "tests/catch.h"

using loadgen::crowd::Lateness;

namespace {

constexpr std::int64_t kMs = 1'000'000;

}  // namespace

TEST_CASE("what began before a stall knows of it and what began after it does not", "[loadgen]") {
  Lateness lateness;
  CHECK(lateness.most_since_ns(0) == 0);
  lateness.note(5000 * kMs, 3000 * kMs);
  lateness.note(5100 * kMs, 20 * kMs);
  lateness.note(5200 * kMs, 30 * kMs);
  CHECK(lateness.most_since_ns(4000 * kMs) == 3000 * kMs);
  CHECK(lateness.most_since_ns(5000 * kMs) == 3000 * kMs);
  CHECK(lateness.most_since_ns(5001 * kMs) == 30 * kMs);
  CHECK(lateness.most_since_ns(5200 * kMs) == 30 * kMs);
  CHECK(lateness.most_since_ns(5201 * kMs) == 0);
}

TEST_CASE("a tick of lateness is not remembered", "[loadgen]") {
  Lateness lateness;
  lateness.note(10 * kMs, 2 * kMs - 1);
  CHECK(lateness.most_since_ns(0) == 0);
  lateness.note(20 * kMs, 2 * kMs);
  CHECK(lateness.most_since_ns(0) == 2 * kMs);
}

TEST_CASE("the stalls of a long run take little memory", "[loadgen]") {
  Lateness lateness;
  for (int stall = 0; stall < 200; ++stall) lateness.note(stall * kMs, (1000 - stall) * kMs);
  CHECK(lateness.most_since_ns(0) == 900 * kMs);
  CHECK(lateness.most_since_ns(150 * kMs) == 850 * kMs);
}
