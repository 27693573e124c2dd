#include "loadgen/config/ramp.h"

#include "base/clock.h"
#include "tests/catch.h"

using base::kNsPerMs;
using loadgen::Config;
using loadgen::Ramp;

namespace {

Config four_threads() {
  Config config;
  config.threads = 4;
  config.crowd.ramp_ms = 8'000;
  config.crowd.has_ramp = true;
  config.life_ms = 10'000;
  return config;
}

}  // namespace

TEST_CASE("the threads of a ramp start evenly, and each has its life", "[loadgen]") {
  const Ramp ramp(four_threads());
  for (int thread = 0; thread < 4; ++thread) {
    CHECK(ramp.start_ns(thread) == thread * 2'000 * kNsPerMs);
    CHECK(ramp.end_ns(thread) == (thread * 2'000 + 10'000) * kNsPerMs);
  }
  CHECK(ramp.last_end_ns() == 16'000 * kNsPerMs);
}

TEST_CASE("the plateau is from the last start to the first end", "[loadgen]") {
  const Ramp ramp(four_threads());
  CHECK(ramp.plateau_start_ns() == 6'000 * kNsPerMs);
  CHECK(ramp.plateau_end_ns() == 10'000 * kNsPerMs);
}

TEST_CASE("--seconds ends a ramp, with a life only if it was given", "[loadgen]") {
  Config config = four_threads();
  config.seconds_ms = 9'000;
  CHECK(Ramp(config).plateau_end_ns() == 10'000 * kNsPerMs);
  config.has_seconds = true;
  CHECK(Ramp(config).plateau_end_ns() == 9'000 * kNsPerMs);
  CHECK(Ramp(config).last_end_ns() == 9'000 * kNsPerMs);
  config.has_seconds = false;
  config.life_ms = 0;
  CHECK(Ramp(config).end_ns(0) == 9'000 * kNsPerMs);
  CHECK(Ramp(config).last_end_ns() == 9'000 * kNsPerMs);
}

TEST_CASE("only a closed loop has a ramp, and only if it is asked for", "[loadgen]") {
  Config config = four_threads();
  CHECK(is_ramp(config));
  config.rate_rps = 5;
  CHECK_FALSE(is_ramp(config));
  config = four_threads();
  config.life_ms = 0;
  CHECK(is_ramp(config));
  config.crowd.has_ramp = false;
  CHECK_FALSE(is_ramp(config));
  config.life_ms = 1;
  CHECK(is_ramp(config));
  CHECK(Ramp(config).start_ns(3) == 0);
}
