// How late packets were, in steps of 4%.
#include "lab/delay_line/lateness.h"

#include "base/clock.h"
#include "tests/catch.h"

namespace {

using base::kNsPerMs;
using delay_line::Lateness;

TEST_CASE("without packets nothing was late", "[delay_line]") {
  const Lateness none;
  CHECK(none.count() == 0);
  CHECK(none.max_ns() == 0);
  CHECK(none.at_share_ns(0.99) == 0);
}

TEST_CASE("a share of the packets was no later than its step", "[delay_line]") {
  Lateness lateness;
  for (int i = 1; i <= 1'000; ++i) lateness.add(i * kNsPerMs / 100);  // 10 us to 10 ms
  const auto is_near = [](std::int64_t found_ns, std::int64_t truth_ns) {
    return truth_ns <= found_ns &&
           static_cast<double>(found_ns) < 1.05 * static_cast<double>(truth_ns);
  };
  CHECK(is_near(lateness.at_share_ns(0.5), 5 * kNsPerMs));
  CHECK(is_near(lateness.at_share_ns(0.99), 99 * kNsPerMs / 10));
  CHECK(lateness.at_share_ns(1) == 10 * kNsPerMs);
  CHECK(lateness.max_ns() == 10 * kNsPerMs);
  CHECK(lateness.count() == 1'000);
}

TEST_CASE("less than 10 us is one step, and nothing is too late to be counted", "[delay_line]") {
  Lateness lateness;
  lateness.add(0);
  CHECK(lateness.at_share_ns(0.99) == 0);
  lateness.add(3600 * base::kNsPerS);
  CHECK(lateness.max_ns() == 3600 * base::kNsPerS);
  CHECK(lateness.at_share_ns(1) >= 60 * base::kNsPerS / 2);
}

}  // namespace
