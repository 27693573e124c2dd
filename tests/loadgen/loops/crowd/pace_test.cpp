#include "loadgen/loops/crowd/pace.h"

#include "tests/catch.h"

using loadgen::crowd::Pace;

namespace {

constexpr std::int64_t kS = 1'000'000'000;

}  // namespace

TEST_CASE("a user may read what is due, and no more than the file", "[loadgen]") {
  const Pace pace(1000, 75, 4096);
  CHECK(pace.due_bytes(0, 10'000) == 0);
  CHECK(pace.due_bytes(kS / 2, 10'000) == 500);
  CHECK(pace.due_bytes(60 * kS, 10'000) == 10'000);
  CHECK(pace.due_bytes(-kS, 10'000) == 0);
}

TEST_CASE("at the moment at which bytes are due, they may be read", "[loadgen]") {
  for (const double rate : {1.0, 3.0, 28'800.0 / 8, 999'983.0}) {
    const Pace pace(rate, 75, 4096);
    for (const std::uint64_t bytes : {1U, 7U, 1023U, 10'240U, 1'000'003U})
      CHECK(pace.due_bytes(pace.due_ns(bytes), UINT64_MAX) >= bytes);
  }
}

TEST_CASE("a user reads every two seconds, or as often as its buffer is full", "[loadgen]") {
  CHECK(Pace(1000, 75, 4096).next_read_ns(0, 10'000) == 2 * kS);
  CHECK(Pace(1000, 75, 4096).next_read_ns(2000, 10'000) == 4 * kS);
  CHECK(Pace(1000, 75, 4096).next_read_ns(9000, 10'000) == 10 * kS);
  CHECK(Pace(1000, 75, 500).next_read_ns(0, 10'000) == kS / 2);
}

TEST_CASE("a fetch is too slow when it takes longer than at the least rate", "[loadgen]") {
  CHECK(Pace(1000, 75, 4096).limit_ns(7500) == 10 * kS);
  CHECK(Pace(1000, 50, 4096).limit_ns(7500) == 15 * kS);
}

TEST_CASE("the slack of a fetch is what it may take longer than at the pace", "[loadgen]") {
  CHECK(Pace(1000, 75, 4096).slack_ns(7500) == 5 * kS / 2);
  CHECK(Pace(1000, 50, 4096).slack_ns(7500) == 15 * kS / 2);
}

TEST_CASE("a fetch of more than a year cannot be timed", "[loadgen]") {
  constexpr std::uint64_t kYear = 366ULL * 24 * 60 * 60;
  CHECK(Pace(1000, 50, 4096).can_time(500 * kYear));
  CHECK_FALSE(Pace(1000, 50, 4096).can_time(500 * kYear + 1000));
  CHECK_FALSE(Pace(1'000'000, 99, 4096).can_time(9'000'000'000'000'000'000U));
}

TEST_CASE("moments to read are rounded by a thousandth of a fetch", "[loadgen]") {
  const Pace pace(1000, 75, 4096);
  CHECK(pace.grain_ms(100) == 1);
  CHECK(pace.grain_ms(10'000) == 10);
  CHECK(pace.grain_ms(1'000'000) == 20);
}

TEST_CASE("the error of a rate is relative to the rate that the user wants", "[loadgen]") {
  const Pace pace(1000, 75, 4096);
  CHECK(pace.error_of(1000, kS) == Approx(0).margin(1e-9));
  CHECK(pace.error_of(1000, 2 * kS) == Approx(-0.5));
  CHECK(pace.error_of(1000, kS / 2) == Approx(1));
}
