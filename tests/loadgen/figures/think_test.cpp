#include "loadgen/figures/think.h"

#include "base/clock.h"
#include "loadgen/figures/recorder.h"
#include "loadgen/figures/summary.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"

using base::kNsPerMs;
using base::kNsPerS;
using loadgen::Figures;
using loadgen::Pause;
using loadgen::Recorder;
using loadgen::Summary;
using loadgen::Tally;
using loadgen::ThinkTally;
using tests::contains;
using tests::is_near;

namespace {

constexpr int kThinkThreads = 4;

// Ten seconds in which each thread paused 30 ms before each request, which took 10 ms.
Tally ten_seconds_of_thinking() {
  Tally tally;
  for (int i = 0; i < kThinkThreads * 250; ++i) tally.response_ns.add(10 * kNsPerMs);
  tally.think.emplace().paused_ns = kThinkThreads * 250 * 30 * kNsPerMs;
  tally.elapsed_ns = 10 * kNsPerS;
  tally.active_ns = static_cast<std::uint64_t>(kThinkThreads * tally.elapsed_ns);
  return tally;
}

Summary summarize_thinking(const Tally& tally) {
  return loadgen::summarize({.tally = tally}, kThinkThreads);
}

}  // namespace

TEST_CASE("a pause counts until the thread ran again, which may be late", "[loadgen]") {
  ThinkTally tally;
  tally.add(Pause{.from_ns = 100, .due_ns = 300, .to_ns = 350, .is_over = true});
  CHECK(tally.paused_ns == 250);
  CHECK(tally.overslept_ns == 50);
  tally.add(Pause{.from_ns = 400, .due_ns = 900, .to_ns = 500});  // cut
  CHECK(tally.paused_ns == 350);
  CHECK(tally.overslept_ns == 50);
  tally.add(Pause{.from_ns = 600, .due_ns = 590, .to_ns = 610, .is_over = true});
  CHECK(tally.overslept_ns == 60);
}

TEST_CASE("a thread is busy until the pause that is cut", "[loadgen]") {
  Recorder recorder;
  recorder.begin(1000);
  CHECK_FALSE(recorder.tally().think);
  recorder.record(Pause{.from_ns = 1000, .due_ns = 9000, .to_ns = 5000});
  CHECK(recorder.tally().elapsed_ns == 4000);
  CHECK(recorder.tally().active_ns == 4000);
  REQUIRE(recorder.tally().think);
  Tally sum = recorder.tally();
  sum.add(recorder.tally());
  CHECK(sum.think->paused_ns == 8000);
}

TEST_CASE("with pauses N = X*(R+Z) must hold", "[loadgen]") {
  const Summary summary = summarize_thinking(ten_seconds_of_thinking());
  REQUIRE(summary.think_ms);
  CHECK(is_near(*summary.think_ms, 30));
  CHECK(is_near(summary.n_check, 1));
  CHECK(summary.invalid_because.empty());
  CHECK(loadgen::law_of(summary) == std::string("X*(R+Z)"));
}

TEST_CASE("time that is neither in a request nor in a pause makes a run invalid", "[loadgen]") {
  Tally tally = ten_seconds_of_thinking();
  tally.think->paused_ns -= 2 * kNsPerS;
  const Summary summary = summarize_thinking(tally);
  CHECK(is_near(summary.n_check, 0.95));
  REQUIRE(summary.invalid_because.size() == 1);
  CHECK(contains(summary.invalid_because[0], "X*(R+Z) is 0.950 of N"));
  CHECK(contains(summary.invalid_because[0], "5.0% passed between requests"));
}

TEST_CASE("the pause before a request that failed counts as the request does", "[loadgen]") {
  Tally tally = ten_seconds_of_thinking();
  tally.response_ns = {};
  for (int i = 0; i < kThinkThreads * 200; ++i) tally.response_ns.add(10 * kNsPerMs);
  tally.errors[0] = kThinkThreads * 50;
  tally.failed_ns = kThinkThreads * 50 * 10 * kNsPerMs;
  const Summary summary = summarize_thinking(tally);
  CHECK(is_near(*summary.think_ms, 30));
  CHECK(is_near(summary.n_check, 0.8));
  REQUIRE(summary.invalid_because.size() == 1);
  CHECK(contains(summary.invalid_because[0],
                 "20.0% went to failed requests and the pauses before them"));
  CHECK(contains(summary.invalid_because[0], "0.0% passed between requests"));
}

TEST_CASE("a run that ends in its first pauses says so", "[loadgen]") {
  Tally tally = ten_seconds_of_thinking();
  tally.response_ns = {};
  CHECK(summarize_thinking(tally).invalid_because ==
        std::vector<std::string>{
            "no request was sent, because the run ended in the first pauses of --think"});
}
