#include "loadgen/figures/burst.h"

#include <vector>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"

using base::kNsPerMs;
using base::kNsPerS;
using loadgen::burst::sums_of;
using loadgen::burst::Transfer;
using tests::is_near;

namespace {

constexpr std::int64_t kStartNs = 5 * kNsPerS;

// 1000 bytes, from and to these milliseconds. The first byte came 1 ms after it was asked for.
Transfer transfer(std::int64_t from_ms, std::int64_t to_ms) {
  return {.asked_ns = kStartNs + from_ms * kNsPerMs,
          .first_byte_ns = kStartNs + (from_ms + 1) * kNsPerMs,
          .file_end_ns = kStartNs + to_ms * kNsPerMs,
          .bytes = 1000};
}

loadgen::burst::SumsSummary of_one_round(const std::vector<Transfer>& round) {
  return loadgen::burst::summarize({sums_of(round)}).all;
}

}  // namespace

TEST_CASE("transfers that all take the whole span have a simultaneity of 1", "[loadgen]") {
  const auto figures = of_one_round({transfer(0, 100), transfer(0, 100), transfer(0, 100)});
  CHECK(is_near(figures.simultaneity, 1));
  CHECK(is_near(figures.span_s, 0.1));
  CHECK(is_near(figures.rate_bytes_s, 30'000));
  CHECK(is_near(figures.release_spread_ms, 0));
  CHECK(is_near(figures.first_byte_ms, 1));
}

TEST_CASE("transfers one after the other have a simultaneity of 1/n", "[loadgen]") {
  const auto figures =
      of_one_round({transfer(0, 10), transfer(30, 40), transfer(10, 20), transfer(20, 30)});
  CHECK(is_near(figures.simultaneity, 0.25));
  CHECK(is_near(figures.span_s, 0.04));
  CHECK(is_near(figures.release_spread_ms, 30));
}

TEST_CASE("one transfer is simultaneous with itself", "[loadgen]") {
  CHECK(is_near(of_one_round({transfer(3, 5)}).simultaneity, 1));
}

TEST_CASE("a failed transfer is counted, and in no other figure but the spread", "[loadgen]") {
  Transfer late = transfer(50, 900);
  late.has_failed = true;
  Transfer never_asked{.asked_ns = 0, .has_failed = true};
  const auto figures = of_one_round({transfer(0, 10), late, transfer(0, 20), never_asked});
  CHECK(figures.failed == 2);
  CHECK(figures.transfers == 2);
  CHECK(figures.bytes == 2000);
  CHECK(is_near(figures.span_s, 0.02));
  CHECK(is_near(figures.simultaneity, 0.75));
  CHECK(is_near(figures.release_spread_ms, 50));
}

TEST_CASE("a round in which all failed has no figures", "[loadgen]") {
  const auto figures = of_one_round({Transfer{.has_failed = true}, Transfer{.has_failed = true}});
  CHECK(figures.failed == 2);
  CHECK(figures.span_s == 0);
  CHECK(figures.rate_bytes_s == 0);
  CHECK(figures.simultaneity == 0);
  CHECK(figures.first_byte_ms == 0);
}

TEST_CASE("the spans of the rounds are added up without the time between them", "[loadgen]") {
  const auto first = sums_of(std::vector{transfer(0, 10), transfer(0, 10)});
  const auto second = sums_of(std::vector{transfer(5000, 5010), transfer(5010, 5040)});
  const auto summary = loadgen::burst::summarize({first, second});
  REQUIRE(summary.rounds.size() == 2);
  CHECK(is_near(summary.rounds[0].simultaneity, 1));
  CHECK(is_near(summary.rounds[1].simultaneity, 0.5));
  CHECK(is_near(summary.all.span_s, 0.05));
  CHECK(is_near(summary.all.rate_bytes_s, 80'000));
  CHECK(is_near(summary.all.simultaneity, 0.6));
  CHECK(is_near(summary.all.release_spread_ms, 10));
}
