#include "loadgen/loops/schedule.h"

#include <cmath>
#include <vector>

#include "base/clock.h"
#include "tests/catch.h"

using base::kNsPerS;
using loadgen::ArrivalKind;
using loadgen::Schedule;

namespace {

std::vector<std::int64_t> first_times(Schedule& schedule, std::size_t count) {
  std::vector<std::int64_t> times(count);
  for (std::int64_t& time_ns : times) time_ns = schedule.take_next().due_ns;
  return times;
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments moments_of_gaps(const std::vector<std::int64_t>& times) {
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const auto gap = static_cast<double>(times[i] - times[i - 1]);
    sum += gap;
    squares += gap * gap;
  }
  const auto count = static_cast<double>(times.size() - 1);
  return {sum / count, squares / count - (sum / count) * (sum / count)};
}

}  // namespace

TEST_CASE("fixed requests are due at multiples of the gap, however many there were",
          "[loadgen][no-threads]") {
  for (const double rate : {0.5, 3.0, 7'777.7, 1e6}) {
    Schedule schedule(rate, ArrivalKind::kFixed, 1);
    CHECK(schedule.take_next().due_ns == 0);
    for (int number = 1; number < 1'000'000; ++number) schedule.take_next();
    const double expected = 1e6 / rate * kNsPerS;
    CHECK(std::abs(static_cast<double>(schedule.take_next().due_ns) - expected) <= 1);
  }
}

TEST_CASE("gaps of Poisson arrivals have the mean and the variance of their distribution",
          "[loadgen][no-threads]") {
  constexpr double kMeanNs = 1e6;  // 1,000 a second
  for (const std::uint64_t seed : {1U, 2U, 3U, 99U}) {
    Schedule schedule(1000, ArrivalKind::kPoisson, seed);
    const Moments moments = moments_of_gaps(first_times(schedule, 200'001));
    // Five standard errors: 1/sqrt(n) for the mean, sqrt(8/n) for the variance.
    CHECK(std::abs(moments.mean / kMeanNs - 1) < 5 / std::sqrt(200'000));
    CHECK(std::abs(moments.variance / (kMeanNs * kMeanNs) - 1) < 5 * std::sqrt(8 / 200'000.0));
  }
}

TEST_CASE("the number of Poisson arrivals in a second varies as much as its mean", "[loadgen]") {
  Schedule schedule(50, ArrivalKind::kPoisson, 4);
  std::vector<double> in_second(4'000);
  for (;;) {
    const auto second = static_cast<std::size_t>(schedule.take_next().due_ns / kNsPerS);
    if (second >= in_second.size()) break;
    ++in_second[second];
  }
  double sum = 0;
  double squares = 0;
  for (const double count : in_second) {
    sum += count;
    squares += count * count;
  }
  const double mean = sum / 4'000;
  CHECK(std::abs(mean - 50) < 5 * std::sqrt(50 / 4'000.0));
  CHECK(std::abs((squares / 4'000 - mean * mean) / 50 - 1) < 5 * std::sqrt(2 / 4'000.0));
}

TEST_CASE("Poisson arrivals do not drift", "[loadgen][no-threads]") {
  constexpr int kRequests = 2'000'000;
  Schedule schedule(100'000, ArrivalKind::kPoisson, 5);
  std::int64_t before_ns = -1;
  bool is_ascending = true;
  for (int number = 0; number < kRequests; ++number) {
    const std::int64_t time_ns = schedule.take_next().due_ns;
    is_ascending = is_ascending && time_ns >= before_ns;
    before_ns = time_ns;
  }
  CHECK(is_ascending);
  const double expected_ns = kRequests * 1e4;
  CHECK(std::abs(static_cast<double>(before_ns) / expected_ns - 1) < 5 / std::sqrt(kRequests));
}

TEST_CASE("a seed gives the same requests on every machine, another one gives others",
          "[loadgen]") {
  Schedule one(1000, ArrivalKind::kPoisson, 1);
  Schedule again(1000, ArrivalKind::kPoisson, 1);
  Schedule other(1000, ArrivalKind::kPoisson, 2);
  const auto times = first_times(one, 100);
  CHECK(times == first_times(again, 100));
  CHECK(times != first_times(other, 100));
  // The first numbers of std::mt19937_64(1), as the standard defines it.
  CHECK(times[0] == 143'728);
  CHECK(times[1] == 290'382);
}
