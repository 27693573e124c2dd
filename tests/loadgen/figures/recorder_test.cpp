#include "loadgen/figures/recorder.h"

#include "base/clock.h"
#include "tests/catch.h"

using base::kNsPerMs;
using base::kNsPerS;
using loadgen::Cause;
using loadgen::Exchange;
using loadgen::Fault;
using loadgen::Recorder;
using loadgen::RequestKind;

namespace {

constexpr std::int64_t kStart = 50 * kNsPerS;

// A request that began `at_ms` after the start of the window and took 10 ms. It was connected after
// 2 ms and had its first byte after 6 ms.
Exchange success(std::int64_t at_ms, std::uint64_t bytes = 1000) {
  const std::int64_t started = kStart + at_ms * kNsPerMs;
  return {{},    started, started + 2 * kNsPerMs, started + 6 * kNsPerMs, started + 10 * kNsPerMs,
          bytes, bytes};
}

Exchange failed_exchange(Cause cause, std::int64_t at_ms) {
  const std::int64_t started = kStart + at_ms * kNsPerMs;
  return {cause, started, started + kNsPerMs, 0, started + 3 * kNsPerMs, 1000, 400};
}

Recorder& begun(Recorder& recorder) {
  recorder.begin(kStart);
  return recorder;
}

}  // namespace

TEST_CASE("a request that succeeded counts with its phases, its bytes and its second",
          "[loadgen]") {
  Recorder recorder;
  begun(recorder).record(success(0));
  recorder.record(success(2100, 500));

  const loadgen::Tally& tally = recorder.tally();
  CHECK(tally.response_ns.count() == 2);
  CHECK(tally.response_ns.sum() == 20 * kNsPerMs);
  CHECK(tally.connect_ns == 4 * kNsPerMs);
  CHECK(tally.first_byte_ns == 12 * kNsPerMs);
  CHECK(tally.moved_bytes == 1500);
  CHECK(tally.announced_bytes == 1500);
  CHECK(tally.errors_total() == 0);
  REQUIRE(tally.seconds.size() == 3);
  CHECK(tally.seconds[0].requests == 1);
  CHECK(tally.seconds[1].requests == 0);
  CHECK(tally.seconds[2].response_ns == 10 * kNsPerMs);
  CHECK(tally.elapsed_ns == 2110 * kNsPerMs);
}

TEST_CASE("a request belongs to the second in which it ended", "[loadgen]") {
  Recorder recorder;
  begun(recorder).record(success(995));
  REQUIRE(recorder.tally().seconds.size() == 2);
  CHECK(recorder.tally().seconds[0].requests == 0);
  CHECK(recorder.tally().seconds[1].requests == 1);
}

TEST_CASE("a failed request counts as an error of its cause and in no other figure", "[loadgen]") {
  Recorder recorder;
  begun(recorder).record(success(0));
  recorder.record(failed_exchange(base::ErrorCode::kDenied, 20));
  recorder.record(failed_exchange(base::ErrorCode::kDenied, 30));
  recorder.record(failed_exchange(Fault::kClosed, 40));

  const loadgen::Tally& tally = recorder.tally();
  CHECK(tally.errors[Cause(base::ErrorCode::kDenied).index()] == 2);
  CHECK(tally.errors[Cause(Fault::kClosed).index()] == 1);
  CHECK(tally.errors_total() == 3);
  CHECK(tally.failed_ns == 9 * kNsPerMs);
  CHECK(tally.response_ns.count() == 1);
  CHECK(tally.moved_bytes == 1000);
  CHECK(tally.connect_ns == 2 * kNsPerMs);
  CHECK(tally.elapsed_ns == 43 * kNsPerMs);
}

TEST_CASE("what is recorded in the second half is in the whole too", "[loadgen]") {
  Recorder first;
  begun(first).record(success(0));
  first.begin_second_half();
  first.begin_second_half();
  first.record(success(10));
  first.record(failed_exchange(Fault::kClosed, 20));
  Recorder second;
  begun(second).record(success(30));

  loadgen::Tally sum;
  sum.add(second.tally());
  sum.add(first.tally());
  CHECK(sum.response_ns.count() == 3);
  REQUIRE(sum.second_half_ns);
  CHECK(sum.second_half_ns->count() == 1);
}

TEST_CASE("tallies of two threads add up, and the later end is that of the run", "[loadgen]") {
  Recorder first;
  begun(first).record(success(0));
  first.record(failed_exchange(Fault::kTimeout, 10));
  Recorder second;
  begun(second).record(success(1500, 7));

  loadgen::Tally sum;
  sum.add(first.tally());
  sum.add(second.tally());
  CHECK(sum.response_ns.count() == 2);
  CHECK(sum.moved_bytes == 1007);
  CHECK(sum.errors_total() == 1);
  CHECK(sum.seconds.size() == 2);
  CHECK(sum.elapsed_ns == 1510 * kNsPerMs);
  CHECK(sum.active_ns == (13 + 1510) * kNsPerMs);

  loadgen::Tally other_way_round;
  other_way_round.add(second.tally());
  other_way_round.add(first.tally());
  CHECK(other_way_round.elapsed_ns == sum.elapsed_ns);
}

TEST_CASE("live() shows what was recorded", "[loadgen]") {
  Recorder recorder;
  begun(recorder).record(success(0));
  recorder.record(failed_exchange(Fault::kConnect, 10));
  CHECK(recorder.live().requests == 1);
  CHECK(recorder.live().errors == 1);
  CHECK(recorder.live().response_ns == 10 * kNsPerMs);
}

TEST_CASE("what the system said about a failure is kept for the first of each cause", "[loadgen]") {
  Recorder recorder;
  begun(recorder);
  for (const char* const why : {"refused", "reset"}) {
    Exchange failed = failed_exchange(Fault::kConnect, 0);
    failed.why = why;
    recorder.record(failed);
  }
  loadgen::Tally sum;
  sum.add(recorder.tally());
  CHECK(sum.first_why[Cause(Fault::kConnect).index()] == "refused");
  CHECK(sum.first_why[Cause(Fault::kClosed).index()].empty());
}

namespace {

// A window of 10 s of an open loop.
Recorder& begun_open(Recorder& recorder) {
  recorder.begin_open(kStart);
  return recorder;
}

// Was due so long before success(at_ms) or failure(at_ms) began.
loadgen::Due due(std::int64_t at_ms, std::int64_t waited_ms, std::int64_t free_ms = 0) {
  const std::int64_t begun_ns = kStart + at_ms * kNsPerMs;
  return {.due_ns = begun_ns - waited_ms * kNsPerMs,
          .free_ns = kStart + free_ms * kNsPerMs,
          .begun_ns = begun_ns,
          .window_end_ns = kStart + 10 * kNsPerS};
}

}  // namespace

TEST_CASE("in an open loop the response time starts when a request is due", "[loadgen]") {
  Recorder recorder;
  begun_open(recorder).record(success(500), due(500, 200));
  const loadgen::Tally& tally = recorder.tally();
  CHECK(tally.response_ns.sum() == 210 * kNsPerMs);
  CHECK(tally.open->service_ns.sum() == 10 * kNsPerMs);
  CHECK(tally.first_byte_ns == 6 * kNsPerMs);
  CHECK(tally.succeeded() == 1);
}

TEST_CASE("loadgen is late only for the time in which a thread was free", "[loadgen]") {
  Recorder recorder;
  begun_open(recorder).record(success(500), due(500, 200, 100));
  CHECK(recorder.tally().open->lateness_ns.max() == 200 * kNsPerMs);
  CHECK(recorder.tally().open->found_no_thread == 0);
  recorder.record(success(900), due(900, 800, 893));
  CHECK(recorder.tally().open->lateness_ns.min() == 7 * kNsPerMs);
  CHECK(recorder.tally().open->found_no_thread == 1);
}

TEST_CASE("a request of an open loop that succeeds after the window is no throughput",
          "[loadgen]") {
  Recorder recorder;
  begun_open(recorder).record(success(9'989), due(9'989, 0));
  recorder.record(success(9'990), due(9'990, 0));
  CHECK(recorder.tally().succeeded() == 2);
  CHECK(recorder.tally().open->answered == 1);
  REQUIRE(recorder.tally().seconds.size() == 10);
  CHECK(recorder.tally().seconds[9].requests == 1);
}

TEST_CASE("an answer within the window is throughput though its request was due before",
          "[loadgen]") {
  Recorder recorder;
  begun_open(recorder).record(success(-10), due(-10, 300));
  recorder.record(failed_exchange(Fault::kClosed, 5), due(5, 600));
  recorder.record(success(-11), due(-11, 0));
  recorder.record(success(20), due(20, 20));
  const loadgen::Tally& tally = recorder.tally();
  CHECK(tally.open->answered == 2);
  CHECK(tally.open->failed == 1);
  REQUIRE(tally.seconds.size() == 1);
  CHECK(tally.seconds[0].requests == 2);
  CHECK(tally.seconds[0].response_ns == (310 + 30) * kNsPerMs);
  CHECK(recorder.live().requests == 2);
  CHECK(tally.warmup_requests == 3);
  CHECK(tally.open->due == 1);
  CHECK(tally.response_ns.count() == 1);
  CHECK(tally.errors_total() == 0);
}

TEST_CASE("requests that were given up are slow, and not missing in the response times",
          "[loadgen]") {
  Recorder recorder;
  begun_open(recorder).record(failed_exchange(Fault::kTimeout, 500), due(500, 100));
  recorder.record(failed_exchange(base::ErrorCode::kDenied, 500), due(500, 0));
  recorder.record_unfinished(RequestKind::kGet, kStart, kStart + 7 * kNsPerS);

  loadgen::Tally tally;
  tally.add(recorder.tally());
  CHECK(tally.response_ns.count() == 2);
  CHECK(tally.response_ns.min() == 103 * kNsPerMs);
  CHECK(tally.response_ns.max() == 7 * kNsPerS);
  CHECK(tally.succeeded() == 0);
  CHECK(tally.open->given_up == 2);
  CHECK(tally.open->due == 3);
  CHECK(tally.errors_total() == 3);
  CHECK(tally.errors[Cause(Fault::kUnfinished).index()] == 1);
}

TEST_CASE("a request that was given up is in its half", "[loadgen]") {
  Recorder recorder;
  begun_open(recorder).begin_second_half();
  recorder.record_unfinished(RequestKind::kGet, kStart, kStart + 7 * kNsPerS);
  recorder.record(failed_exchange(Fault::kTimeout, 500), due(500, 100));
  REQUIRE(recorder.tally().second_half_ns);
  CHECK(recorder.tally().second_half_ns->count() == 2);
}

TEST_CASE("tallies of two threads of an open loop add up", "[loadgen]") {
  Recorder first;
  begun_open(first).record(success(0), due(0, 0));
  Recorder second;
  begun_open(second).record(success(10), due(10, 5, 9));
  loadgen::Tally sum;
  sum.add(first.tally());
  sum.add(second.tally());
  CHECK(sum.open->due == 2);
  CHECK(sum.open->answered == 2);
  CHECK(sum.open->found_no_thread == 1);
  CHECK(sum.open->service_ns.count() == 2);
  CHECK(sum.open->lateness_ns.count() == 2);
}

TEST_CASE("requests of the warm-up and of the cool-down count in no figure", "[loadgen]") {
  Recorder recorder;
  begun(recorder).count_warmup();
  recorder.count_cooldown();
  loadgen::Tally sum;
  sum.add(recorder.tally());
  CHECK(sum.warmup_requests == 1);
  CHECK(sum.cooldown_requests == 1);
  CHECK(sum.succeeded() == 0);
  CHECK(sum.elapsed_ns == 0);
}

TEST_CASE("in a crowd a fetch is a request, and a user that left is an error", "[loadgen]") {
  Recorder one;
  Recorder other;
  one.begin_crowd(kStart).wakeups = 2;
  other.begin_crowd(kStart).wakeups = 3;
  one.record(success(0));
  other.record(failed_exchange(Fault::kTooSlow, 0));
  loadgen::Tally sum = one.tally();
  sum.add(other.tally());
  sum.add(loadgen::Tally());
  CHECK(sum.succeeded() == 1);
  CHECK(sum.errors[Cause(Fault::kTooSlow).index()] == 1);
  REQUIRE(sum.crowd);
  CHECK(sum.crowd->wakeups == 5);
  CHECK_FALSE(sum.open);
}

TEST_CASE("a run that mixes kinds tells their requests apart", "[loadgen]") {
  Recorder recorder;
  recorder.tell_kinds_apart();
  begun(recorder);
  Exchange put = success(10, 300);
  put.kind = RequestKind::kPut;
  recorder.record(success(0));
  recorder.record(put);
  recorder.record(put);
  put.failure = Fault::kTimeout;
  recorder.record(put);

  loadgen::Tally sum;
  sum.add(recorder.tally());
  sum.add(recorder.tally());
  const auto& gets = sum.kinds->of(RequestKind::kGet);
  const auto& puts = sum.kinds->of(RequestKind::kPut);
  CHECK(gets.succeeded() == 2);
  CHECK(gets.moved_bytes == 2000);
  CHECK(puts.succeeded() == 4);
  CHECK(puts.response_ns.count() == 4);
  CHECK(puts.moved_bytes == 1200);
  CHECK(puts.errors[Cause(Fault::kTimeout).index()] == 2);
  CHECK(sum.kinds->of(RequestKind::kNew).response_ns.count() == 0);
}

TEST_CASE("in an open loop the kinds have what was given up and not sent", "[loadgen]") {
  Recorder recorder;
  recorder.tell_kinds_apart();
  begun_open(recorder).record(success(9'990), due(9'990, 990));
  recorder.record(failed_exchange(Fault::kTimeout, 9'990), due(9'990, 0));
  recorder.record_unfinished(RequestKind::kPut, kStart, kStart + 7 * kNsPerS);

  const auto& gets = recorder.tally().kinds->of(RequestKind::kGet);
  const auto& puts = recorder.tally().kinds->of(RequestKind::kPut);
  CHECK(gets.succeeded() == 1);
  CHECK(gets.given_up == 1);
  CHECK(gets.response_ns.min() == 3 * kNsPerMs);
  CHECK(gets.response_ns.max() == 1000 * kNsPerMs);
  CHECK(puts.given_up == 1);
  CHECK(puts.errors[Cause(Fault::kUnfinished).index()] == 1);
  CHECK(puts.response_ns.max() == 7 * kNsPerS);
}

TEST_CASE("in an open loop the kinds have what was answered within the window", "[loadgen]") {
  Recorder recorder;
  recorder.tell_kinds_apart();
  Exchange of_warmup = success(0);
  of_warmup.kind = RequestKind::kPut;
  begun_open(recorder).record(of_warmup, due(0, 100));
  recorder.record(success(9'989), due(9'989, 0));
  recorder.record(success(9'990), due(9'990, 0));

  const auto& gets = recorder.tally().kinds->of(RequestKind::kGet);
  const auto& puts = recorder.tally().kinds->of(RequestKind::kPut);
  CHECK(gets.succeeded() == 2);
  CHECK(gets.answered == 1);
  CHECK(puts.succeeded() == 0);
  CHECK(puts.answered == 1);
}
