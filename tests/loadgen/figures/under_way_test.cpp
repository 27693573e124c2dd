#include "loadgen/figures/under_way.h"

#include "base/clock.h"
#include "loadgen/figures/summary.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"

using base::kNsPerMs;
using base::kNsPerS;
using loadgen::Figures;
using loadgen::Tally;
using loadgen::UnderWay;
using tests::contains;
using tests::is_near;

namespace {

constexpr int kUnderWayThreads = 4;

// Ten seconds in which each thread had one request of 100 ms after the other.
Figures ten_seconds_under_way(std::uint64_t seen_each, int samples = 100) {
  Figures figures;
  for (int i = 0; i < kUnderWayThreads * 100; ++i) figures.tally.response_ns.add(100 * kNsPerMs);
  figures.tally.elapsed_ns = 10 * kNsPerS;
  figures.tally.active_ns = static_cast<std::uint64_t>(kUnderWayThreads * figures.tally.elapsed_ns);
  for (int i = 0; i < samples; ++i) figures.under_way.add(seen_each);
  return figures;
}

std::vector<std::string> under_way_faults(const Figures& figures) {
  return loadgen::summarize(figures, kUnderWayThreads).invalid_because;
}

}  // namespace

TEST_CASE("a silence lasts from the first look to the last one that sees no end", "[loadgen]") {
  loadgen::Silence silence;
  CHECK_FALSE(silence.longest_ns());
  silence.look(100, 7);
  CHECK(silence.longest_ns() == 0);
  silence.look(150, 7);
  silence.look(190, 8);
  silence.look(230, 8);
  CHECK(silence.longest_ns() == 50);
  silence.look(250, 8);
  silence.look(300, 9);
  CHECK(silence.longest_ns() == 60);
}

TEST_CASE("as many requests are seen under way as X*R says", "[loadgen]") {
  const auto summary = loadgen::summarize(ten_seconds_under_way(4), kUnderWayThreads);
  REQUIRE(summary.under_way);
  CHECK(summary.under_way->samples == 100);
  CHECK(is_near(summary.under_way->mean, 4));
  CHECK(is_near(summary.under_way->expected, 4));
  CHECK(summary.invalid_because.empty());
  CHECK(loadgen::text_of(*summary.under_way) ==
        "4.00 requests on average in 100 samples; X*R is 4.00");
}

TEST_CASE("requests that were counted twice are found by those under way", "[loadgen]") {
  REQUIRE(under_way_faults(ten_seconds_under_way(2)).size() == 1);
  CHECK(contains(under_way_faults(ten_seconds_under_way(2))[0],
                 "loadgen has not counted every request once"));
  CHECK(under_way_faults(ten_seconds_under_way(2, 49)).empty());
}

TEST_CASE("where pauses leave few requests under way, they must agree more closely", "[loadgen]") {
  Figures figures;
  for (int i = 0; i < kUnderWayThreads * 100; ++i) figures.tally.response_ns.add(2 * kNsPerMs);
  figures.tally.think.emplace().paused_ns = kUnderWayThreads * 100 * 98 * kNsPerMs;
  figures.tally.elapsed_ns = 10 * kNsPerS;
  figures.tally.active_ns = static_cast<std::uint64_t>(kUnderWayThreads * figures.tally.elapsed_ns);
  const auto with = [&figures](std::uint64_t samples, std::uint64_t requests) {
    figures.under_way = {.samples = samples, .sum = requests};
    return under_way_faults(figures);
  };
  CHECK(with(100, 8).empty());
  CHECK(with(100, 19).empty());
  REQUIRE(with(100, 21).size() == 1);
  CHECK(contains(with(100, 21)[0], "X*R is 0.08: loadgen has not counted every request once"));
  CHECK(with(10'000, 980).empty());
  CHECK(with(10'000, 1'000).size() == 1);
}

TEST_CASE("samples that scatter more are less exact", "[loadgen]") {
  Figures figures;
  for (int i = 0; i < kUnderWayThreads * 100; ++i) figures.tally.response_ns.add(2 * kNsPerMs);
  figures.tally.think.emplace().paused_ns = kUnderWayThreads * 100 * 98 * kNsPerMs;
  figures.tally.elapsed_ns = 10 * kNsPerS;
  figures.tally.active_ns = static_cast<std::uint64_t>(kUnderWayThreads * figures.tally.elapsed_ns);
  const auto with = [&figures](int samples, std::uint64_t requests) {
    figures.under_way = {};
    for (int i = 0; i < 100; ++i) figures.under_way.add(i < samples ? requests : 0);
    return under_way_faults(figures);
  };
  CHECK(with(40, 1).size() == 1);
  CHECK(with(10, 4).empty());
  CHECK(with(20, 4).size() == 1);
}

TEST_CASE("a failed request was under way too", "[loadgen]") {
  Figures figures = ten_seconds_under_way(4);
  figures.tally.response_ns = {};
  for (int i = 0; i < kUnderWayThreads * 98; ++i) figures.tally.response_ns.add(100 * kNsPerMs);
  figures.tally.failed_ns = 8 * 100 * kNsPerMs;
  CHECK(is_near(loadgen::summarize(figures, kUnderWayThreads).under_way->expected, 4));
}

TEST_CASE("in an open loop a request is under way from when it was sent", "[loadgen]") {
  Tally tally;
  tally.elapsed_ns = kNsPerS;
  tally.open.emplace().service_ns.add(kNsPerS / 2);
  tally.response_ns.add(kNsPerS);
  UnderWay seen;
  CHECK_FALSE(summarize(seen, tally));
  seen.add(1);
  seen.add(0);
  REQUIRE(summarize(seen, tally));
  CHECK(is_near(summarize(seen, tally)->mean, 0.5));
  CHECK(std::abs(summarize(seen, tally)->expected - 0.5) < 0.01);
  tally.failed_ns = 1;
  CHECK_FALSE(summarize(seen, tally));
}
