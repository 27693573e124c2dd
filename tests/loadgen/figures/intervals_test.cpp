#include "loadgen/figures/intervals.h"

#include "tests/catch.h"
#include "tests/loadgen/compare.h"

using loadgen::intervals_of;
using loadgen::Summary;
using tests::is_near;

namespace {

// Twenty seconds, each with 1,000 requests or a few more or less, of 1 to 10 ms.
Summary steady_summary() {
  Summary made;
  made.elapsed_s = 20;
  for (std::uint64_t second = 0; second < 20; ++second)
    made.per_second.push_back({second % 4 < 2 ? 990u : 1010u, 5.5});
  made.requests = 20'000;
  made.throughput_rps = 1000;
  for (int ms = 1; ms <= 10; ++ms) made.distribution.emplace_back(ms, 2000);
  made.response = {.mean_ms = 5.5, .min_ms = 1, .p50_ms = 5, .max_ms = 10};
  return made;
}

}  // namespace

TEST_CASE("an interval is what ten parts of the run tell", "[loadgen]") {
  const auto found = intervals_of(steady_summary());
  REQUIRE(found);
  // Parts of two seconds have 990 and 1,010 in turns: a standard deviation of 10.541.
  CHECK(is_near(found->throughput_rps.low, 1000 - 2.262 * 10.540926 / 3.1622777));
  CHECK(is_near(found->throughput_rps.high, 1000 + 2.262 * 10.540926 / 3.1622777));
  CHECK(found->mean_ms.low == found->mean_ms.high);
  REQUIRE(found->p50_ms);
  CHECK(found->p50_ms->low == 5);
  CHECK(found->p50_ms->high == 6);
  REQUIRE(found->p99_ms);
  CHECK(found->p99_ms->low == 10);
}

TEST_CASE("requests that are slow together are few independent ones", "[loadgen]") {
  Summary summary = steady_summary();
  for (std::size_t second = 0; second < 20; ++second)
    summary.per_second[second].mean_ms = second < 10 ? 3 : 8;
  const auto found = intervals_of(summary);
  REQUIRE(found);
  CHECK(found->mean_ms.low < 4);
  CHECK(found->mean_ms.high > 7);
  REQUIRE(found->p50_ms);
  CHECK(found->p50_ms->low < 4);
  CHECK(found->p50_ms->high > 7);
  CHECK_FALSE(found->p99_ms);
}

TEST_CASE("a short run, and one that stood still, have no interval", "[loadgen]") {
  Summary summary = steady_summary();
  summary.elapsed_s = 9.9;
  CHECK_FALSE(intervals_of(summary));
  summary.elapsed_s = 9.96;
  CHECK(intervals_of(summary));
  summary = steady_summary();
  summary.per_second[6].requests = summary.per_second[7].requests = 0;
  CHECK_FALSE(intervals_of(summary));
}

TEST_CASE("a run whose load changes has no interval", "[loadgen]") {
  Summary summary = steady_summary();
  summary.plateau.emplace();
  CHECK_FALSE(intervals_of(summary));
}
