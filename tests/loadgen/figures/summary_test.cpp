#include "loadgen/figures/summary.h"

#include <cmath>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"

using base::kNsPerMs;
using base::kNsPerS;
using loadgen::Cause;
using loadgen::Fault;
using loadgen::Summary;
using loadgen::Tally;
using tests::contains;
using tests::is_near;

namespace {

// A run of 10 s in which `requests` requests of 10 ms and 1000 bytes succeeded. All threads ran
// until the end.
Tally tally_of_ten_seconds(int requests, int threads) {
  Tally tally;
  for (int i = 0; i < requests; ++i) tally.response_ns.add(10 * kNsPerMs);
  const auto count = static_cast<std::uint64_t>(requests);
  tally.connect_ns = count * 2 * kNsPerMs;
  tally.first_byte_ns = count * 6 * kNsPerMs;
  tally.announced_bytes = tally.moved_bytes = count * 1000;
  tally.elapsed_ns = 10 * kNsPerS;
  tally.active_ns = static_cast<std::uint64_t>(10 * kNsPerS * threads);
  return tally;
}

Summary summarize_tally(const Tally& tally, int threads) {
  return loadgen::summarize({.tally = tally}, threads);
}

// An open loop of 10 s in which 1,000 requests took 10 ms, and each was sent so late.
Tally open_loop_tally(std::int64_t lateness_us) {
  Tally tally = tally_of_ten_seconds(1000, 4);
  tally.open.emplace();
  tally.open->due = tally.open->answered = 1000;
  for (int i = 0; i < 1000; ++i) {
    tally.open->service_ns.add(9 * kNsPerMs);
    tally.open->lateness_ns.add(lateness_us * 1000);
  }
  return tally;
}

}  // namespace

TEST_CASE("rates are over the measured time, phases are means from the start", "[loadgen]") {
  Tally tally = tally_of_ten_seconds(4000, 4);
  tally.elapsed_ns = 10 * kNsPerS + 2 * kNsPerMs;
  const Summary summary = summarize_tally(tally, 4);
  CHECK(summary.requests == 4000);
  CHECK(is_near(summary.elapsed_s, 10.002));
  CHECK(is_near(summary.throughput_rps, 4000 / 10.002));
  CHECK(summary.bytes == 4'000'000);
  CHECK(is_near(summary.connect_ms, 2));
  CHECK(is_near(summary.first_byte_ms, 6));
  CHECK(is_near(summary.response.mean_ms, 10));
}

TEST_CASE("percentiles are those of their names", "[loadgen]") {
  Tally tally;
  for (int ms = 1; ms <= 1000; ++ms) tally.response_ns.add(ms * kNsPerMs);
  const auto times = summarize_tally(tally, 1).response;
  CHECK(is_near(times.min_ms, 1));
  constexpr double kHalfABucketMs = 4.2;
  CHECK(std::abs(times.p50_ms - 500) <= kHalfABucketMs);
  CHECK(std::abs(*times.p90_ms - 900) <= kHalfABucketMs);
  CHECK(std::abs(*times.p99_ms - 990) <= kHalfABucketMs);
  CHECK(std::abs(*times.p999_ms - 999) <= kHalfABucketMs);
  CHECK(is_near(times.max_ms, 1000));
}

TEST_CASE("a run whose threads were always in a request is valid", "[loadgen]") {
  const Summary summary = summarize_tally(tally_of_ten_seconds(4000, 4), 4);
  CHECK(is_near(summary.n_check, 1.0));
  CHECK(summary.invalid_because.empty());
}

TEST_CASE("N = X*R must hold to 3%", "[loadgen]") {
  CHECK(summarize_tally(tally_of_ten_seconds(3890, 4), 4).invalid_because.empty());
  CHECK(summarize_tally(tally_of_ten_seconds(4110, 4), 4).invalid_because.empty());
  CHECK(summarize_tally(tally_of_ten_seconds(3870, 4), 4).invalid_because.size() == 1);
  CHECK(summarize_tally(tally_of_ten_seconds(4130, 4), 4).invalid_because.size() == 1);
}

TEST_CASE("an invalid run says where the time went", "[loadgen]") {
  Tally tally = tally_of_ten_seconds(2000, 4);  // half of 40 thread-seconds
  tally.failed_ns = 8 * kNsPerS;                // a fifth
  tally.active_ns -= 6 * kNsPerS;               // and 15% after a thread had ended
  const Summary summary = summarize_tally(tally, 4);
  CHECK(is_near(summary.n_check, 0.5));
  REQUIRE(summary.invalid_because.size() == 1);
  const std::string& reason = summary.invalid_because.front();
  CHECK(contains(reason, "X*R is 0.500 of N"));
  CHECK(contains(reason, "20.0% went to failed requests"));
  CHECK(contains(reason,
                 "15.0% passed after a thread had ended before the last one (a longer run helps)"));
  CHECK(contains(reason, "15.0% passed between requests"));
}

TEST_CASE("a run is invalid if announced bytes did not come", "[loadgen]") {
  Tally tally = tally_of_ten_seconds(4000, 4);
  --tally.moved_bytes;
  const Summary summary = summarize_tally(tally, 4);
  REQUIRE(summary.invalid_because.size() == 1);
  CHECK(contains(summary.invalid_because.front(), "announced 4000000 bytes"));
  CHECK(contains(summary.invalid_because.front(), "3999999"));
}

TEST_CASE("errors are listed by cause, but only those that occurred", "[loadgen]") {
  Tally tally = tally_of_ten_seconds(4000, 4);
  tally.errors[Cause(base::ErrorCode::kNotFound).index()] = 2;
  tally.errors[Cause(Fault::kTimeout).index()] = 1;
  const Summary summary = summarize_tally(tally, 4);
  CHECK(summary.errors_total == 3);
  CHECK(summary.errors ==
        std::vector<std::pair<std::string, std::uint64_t>>{{"not-found", 2}, {"timeout", 1}});
  CHECK(summary.requests == 4000);
}

TEST_CASE("a run without a success is invalid and divides nothing by zero", "[loadgen]") {
  const Summary summary = summarize_tally(Tally(), 4);
  CHECK(summary.throughput_rps == 0);
  CHECK(summary.response.mean_ms == 0);
  CHECK(summary.n_check == 0);
  CHECK(summary.invalid_because == std::vector<std::string>{"no request succeeded"});
}

TEST_CASE("an open loop is not judged by N = X*R", "[loadgen]") {
  const Summary summary = summarize_tally(open_loop_tally(100), 4);
  CHECK(summary.invalid_because.empty());
  CHECK(summary.is_n_check_good());
  CHECK(is_near(summary.open->service.mean_ms, 9));
  CHECK(is_near(summary.last_byte_ms(), 9));
  CHECK(is_near(summary.response.mean_ms, 10));
}

TEST_CASE("an open loop whose generator was late is invalid", "[loadgen]") {
  CHECK_FALSE(summarize_tally(open_loop_tally(990), 4).open->is_late);
  const Summary late = summarize_tally(open_loop_tally(1100), 4);
  CHECK(late.open->is_late);
  REQUIRE(late.invalid_because.size() == 1);
  CHECK(contains(late.invalid_because.front(),
                 "the load generator itself was late: p99 of its lateness is 1.100 ms, which is "
                 "over 1 ms and over 10% of p99"));
}

TEST_CASE("lateness that is small beside the response times is no fault", "[loadgen]") {
  Tally tally = open_loop_tally(1100);
  for (int i = 0; i < 20; ++i) tally.response_ns.add(12 * kNsPerMs);
  CHECK_FALSE(summarize_tally(tally, 4).open->is_late);
}

TEST_CASE("throughput of an open loop is what was answered within the window", "[loadgen]") {
  Tally tally = open_loop_tally(0);
  tally.open->answered = 700;
  const Summary summary = summarize_tally(tally, 4);
  CHECK(summary.requests == 1000);
  CHECK(is_near(summary.throughput_rps, 70));
}

TEST_CASE("requests that were given up are no successes", "[loadgen]") {
  Tally tally = open_loop_tally(0);
  tally.response_ns.add(5 * kNsPerS);
  tally.open->given_up = 1;
  tally.errors[Cause(Fault::kUnfinished).index()] = 1;
  const Summary summary = summarize_tally(tally, 4);
  CHECK(summary.requests == 1000);
  CHECK(is_near(summary.response.max_ms, 5000));
  CHECK(summary.errors == std::vector<std::pair<std::string, std::uint64_t>>{{"unfinished", 1}});
}

TEST_CASE("a burst is not judged by X*R/N", "[loadgen]") {
  const loadgen::burst::Sums round{
      .transfers = 4, .bytes = 4000, .span_ns = 1e9, .transfer_ns = 3e9, .capacity_ns = 4e9};
  const Summary summary =
      loadgen::summarize({.tally = tally_of_ten_seconds(1000, 4), .rounds = {{round, round}}}, 4);
  CHECK_FALSE(summary.has_n_check());
  CHECK(summary.invalid_because.empty());
  REQUIRE(summary.burst);
  CHECK(is_near(summary.burst->all.simultaneity, 0.75));
  CHECK(is_near(summary.burst->all.rate_bytes_s, 4000));
}
