#include "loadgen/clients/think.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/clock.h"
#include "tests/catch.h"

using base::kNsPerS;
using loadgen::Think;
using loadgen::ThinkKind;

TEST_CASE("without --think there are no pauses", "[loadgen]") {
  CHECK_FALSE(Think({}, 1, 3).makes_pauses());
  CHECK(Think({ThinkKind::kFixed, 1}, 1, 3).makes_pauses());
}

TEST_CASE("fixed pauses are equal, but begin each phase out of step", "[loadgen]") {
  const Think think({ThinkKind::kFixed, 2}, 1, 4);
  for (int user = 0; user < 4; ++user) {
    CHECK(think.first_ns(user, 0) == (user + 1) * kNsPerS / 2);
    CHECK(think.first_ns(user, 7) == think.first_ns(user, 0));
    CHECK(think.next_ns(user, 1) == 2 * kNsPerS);
  }
  CHECK(Think({ThinkKind::kFixed, 2}, 1, 1).first_ns(0, 0) == 2 * kNsPerS);
}

TEST_CASE("pauses that are drawn depend on the seed, the user and the request", "[loadgen]") {
  const Think think({ThinkKind::kExponential, 1}, 5, 2);
  CHECK(think.next_ns(1, 3) == Think({ThinkKind::kExponential, 1}, 5, 9).next_ns(1, 3));
  CHECK(think.next_ns(1, 3) == think.first_ns(1, 3));
  CHECK(think.next_ns(1, 3) != think.next_ns(0, 3));
  CHECK(think.next_ns(1, 3) != think.next_ns(1, 4));
  CHECK(think.next_ns(1, 3) != Think({ThinkKind::kExponential, 1}, 6, 2).next_ns(1, 3));
}

TEST_CASE("drawn pauses have the exponential distribution", "[loadgen]") {
  constexpr int kPauses = 100'000;
  const Think think({ThinkKind::kExponential, 0.5}, 3, 1);
  std::vector<double> pauses_s;
  for (int number = 0; number < kPauses; ++number) {
    const std::int64_t pause_ns = think.next_ns(0, number);
    REQUIRE(pause_ns >= 0);
    pauses_s.push_back(static_cast<double>(pause_ns) / kNsPerS);
  }
  std::sort(pauses_s.begin(), pauses_s.end());
  double distance = 0;  // of Kolmogorov and Smirnov
  double sum_s = 0;
  for (int i = 0; i < kPauses; ++i) {
    const double pause_s = pauses_s[static_cast<std::size_t>(i)];
    sum_s += pause_s;
    distance = std::max(distance, std::abs(1 - std::exp(-pause_s / 0.5) - (i + 0.5) / kPauses));
  }
  CHECK(std::abs(sum_s / kPauses - 0.5) < 0.0052);  // 3.3 standard errors
  CHECK(distance < 1.95 / std::sqrt(kPauses));      // exceeded by 1 of 1,000 seeds
}
