#include "loadgen/figures/own_faults.h"

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"

using base::kNsPerMs;
using base::kNsPerS;
using loadgen::Figures;
using loadgen::Summary;
using tests::contains;
using tests::is_near;

namespace {

constexpr int kThreads = 4;

// A run of 10 s in which each thread had one request of so long after the other.
Figures ten_seconds(std::int64_t each_ms) {
  Figures figures;
  loadgen::Tally& tally = figures.tally;
  for (std::int64_t i = 0; i < kThreads * 10'000 / each_ms; ++i)
    tally.response_ns.add(each_ms * kNsPerMs);
  tally.elapsed_ns = 10 * kNsPerS;
  tally.active_ns = static_cast<std::uint64_t>(kThreads * tally.elapsed_ns);
  return figures;
}

Figures stalled(std::int64_t each_ms, int count, std::int64_t longest_ms, std::int64_t total_ms) {
  Figures figures = ten_seconds(each_ms);
  figures.stalls = {count, longest_ms * kNsPerMs, total_ms * kNsPerMs};
  return figures;
}

Figures starved(std::int64_t each_ms, double delay_ms) {
  Figures figures = ten_seconds(each_ms);
  figures.cpu.run_delay_ms_per_request = delay_ms;
  return figures;
}

Summary summarize(const Figures& figures) { return loadgen::summarize(figures, kThreads); }

// An open loop of requests of 10 ms, of which the last `late` were sent 50 ms late.
Figures open_loop(int requests, int late) {
  Figures figures;
  loadgen::OpenTally& open = figures.tally.open.emplace();
  figures.tally.elapsed_ns = 10 * kNsPerS;
  open.due = open.answered = static_cast<std::uint64_t>(requests);
  for (int i = 0; i < requests; ++i) {
    const std::int64_t lateness_ns = i < requests - late ? 0 : 50 * kNsPerMs;
    open.lateness_ns.add(lateness_ns);
    open.service_ns.add(10 * kNsPerMs);
    figures.tally.response_ns.add(10 * kNsPerMs + lateness_ns);
  }
  return figures;
}

std::string faults(const Figures& figures) {
  std::string text;
  for (const std::string& fault : summarize(figures).invalid_because) text += fault + "\n";
  return text;
}

}  // namespace

TEST_CASE("a run in which loadgen stood still is invalid and says for how long", "[loadgen]") {
  CHECK(faults(stalled(10, 0, 0, 0)).empty());
  CHECK(faults(stalled(10, 1, 600, 600)) ==
        "loadgen itself stood still for 0.6 s (stopped, or without a core)\n");
}

TEST_CASE("a stall is a fault beside short requests however long the run is", "[loadgen]") {
  Figures figures = stalled(100, 1, 110, 110);
  figures.tally.elapsed_ns = 3600 * kNsPerS;
  CHECK(contains(faults(figures), "loadgen itself stood still"));
}

TEST_CASE("a stall that changes no figure is no fault", "[loadgen]") {
  CHECK(faults(stalled(2000, 1, 100, 100)).empty());
  CHECK(contains(faults(stalled(2000, 1, 101, 101)), "stood still for 0.1 s"));
  CHECK(contains(faults(stalled(1000, 1, 101, 101)), "stood still for 0.1 s"));
  Figures long_run = stalled(2000, 1, 201, 201);
  long_run.tally.elapsed_ns = 60 * kNsPerS;
  CHECK(contains(faults(long_run), "stood still"));
}

TEST_CASE("a stall in which every request failed is told", "[loadgen]") {
  Figures figures = stalled(10, 1, 600, 600);
  figures.tally.response_ns = {};
  CHECK(contains(faults(figures), "loadgen itself stood still"));
  CHECK(contains(faults(figures), "no request succeeded"));
}

TEST_CASE("a run without any hope has one reason", "[loadgen]") {
  Figures figures = stalled(10, 1, 600, 600);
  figures.tally.response_ns = {};
  figures.hopeless = loadgen::Fault::kConnect;
  CHECK(faults(figures) ==
        "every request failed with `connect` from the start, so the run ended early\n");
}

TEST_CASE("a run that waited for a core for over half of its requests is invalid", "[loadgen]") {
  CHECK(faults(starved(10, 5)).empty());
  CHECK(faults(starved(10, 5.1)) ==
        "loadgen's threads waited for a core for 5.100 ms of each request, 51% of its time; use "
        "fewer threads, or give loadgen cores of its own (taskset)\n");
}

TEST_CASE("a thread that wakes late from its pause has not waited within a request", "[loadgen]") {
  Figures figures = starved(10, 6);
  const std::uint64_t requests = figures.tally.response_ns.count();
  figures.tally.think.emplace().overslept_ns = requests * 5 * kNsPerMs;
  CHECK(is_near(summarize(figures).starvation, 0.1));
  figures.tally.think->overslept_ns = requests * 7 * kNsPerMs;
  CHECK(summarize(figures).starvation == 0);
  figures.cpu.run_delay_ms_per_request = 13;
  CHECK(contains(faults(figures), "waited for a core for 6.000 ms of each request, 60%"));
}

TEST_CASE("a short run is not judged by how it waited for a core", "[loadgen]") {
  Figures figures = starved(10, 9);
  figures.tally.elapsed_ns = 5 * kNsPerS - 1;
  CHECK(faults(figures).empty());
  CHECK(summarize(figures).is_starved());
  figures.tally.elapsed_ns = 5 * kNsPerS;
  CHECK(contains(faults(figures), "waited for a core"));
}

TEST_CASE("a quarter of a request without a core is told", "[loadgen]") {
  CHECK_FALSE(summarize(starved(100, 25)).is_starved());
  CHECK(summarize(starved(100, 25.1)).is_starved());
  CHECK(is_near(summarize(starved(10, 2)).starvation, 0.2));
}

TEST_CASE("a crowd is told how long its threads waited, and is judged by its lateness",
          "[loadgen]") {
  Figures figures = starved(10, 9);
  figures.cpu.run_delay_share = 0.5;
  figures.tally.crowd.emplace();
  figures.crowd = {.asked = 1, .standing = {.started = 1, .left = 1}};
  CHECK(is_near(summarize(figures).starvation, 0.5));
  CHECK(summarize(figures).is_starved());
  CHECK(faults(figures).empty());
}

TEST_CASE("threads of an open loop wait for a core before a request too", "[loadgen]") {
  Figures figures = open_loop(1000, 0);
  figures.cpu.run_delay_ms_per_request = 9;
  figures.cpu.run_delay_share = 0.3;
  CHECK(is_near(summarize(figures).starvation, 0.3));
  CHECK(summarize(figures).is_starved());
  CHECK(faults(figures).empty());
}

TEST_CASE("one late wake-up is no fault of a short open loop", "[loadgen]") {
  CHECK(faults(open_loop(36, 1)).empty());
  CHECK(faults(open_loop(100, 1)).empty());
  CHECK(faults(open_loop(5, 1)).empty());
  CHECK(contains(faults(open_loop(100, 2)), "p99 of its lateness"));
  CHECK(contains(faults(open_loop(36, 4)), "p90 of its lateness"));
  CHECK_FALSE(summarize(open_loop(36, 1)).open->is_late);
  CHECK(summarize(open_loop(36, 4)).open->is_late);
}

TEST_CASE("a percentile that is the maximum is not known", "[loadgen]") {
  const auto known = [](int requests) {
    const loadgen::ResponseTimes times = summarize(open_loop(requests, 0)).response;
    return std::vector<bool>{times.p90_ms.has_value(), times.p99_ms.has_value(),
                             times.p999_ms.has_value()};
  };
  CHECK(known(9) == std::vector<bool>{false, false, false});
  CHECK(known(10) == std::vector<bool>{true, false, false});
  CHECK(known(99) == std::vector<bool>{true, false, false});
  CHECK(known(100) == std::vector<bool>{true, true, false});
  CHECK(known(999) == std::vector<bool>{true, true, false});
  CHECK(known(1000) == std::vector<bool>{true, true, true});
}
