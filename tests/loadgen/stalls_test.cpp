#include "loadgen/stalls.h"

#include <unistd.h>

#include "base/clock.h"
#include "tests/catch.h"

using base::kNsPerS;
using loadgen::StallLog;
using loadgen::Stalls;
using loadgen::StallWatch;

namespace {

// A thread that should have run at 10 s, and did at this moment.
void wake_late(StallLog& log, std::int64_t woke_ns, std::int64_t waited_ns = 0) {
  log.woke(10 * kNsPerS, woke_ns, waited_ns);
}

}  // namespace

TEST_CASE("a thread that ran again 100 ms late was only delayed", "[stalls]") {
  StallLog log;
  wake_late(log, 10 * kNsPerS + StallLog::kLongestDelayNs);
  CHECK(log.between(0, 20 * kNsPerS).count == 0);
  wake_late(log, 10 * kNsPerS + StallLog::kLongestDelayNs + 1);
  CHECK(log.between(0, 20 * kNsPerS).count == 1);
}

TEST_CASE("stalls add up and the longest is known", "[stalls]") {
  StallLog log;
  wake_late(log, 12 * kNsPerS);
  log.woke(15 * kNsPerS, 20 * kNsPerS, 0);
  const Stalls stalls = log.between(0, 30 * kNsPerS);
  CHECK(stalls.count == 2);
  CHECK(stalls.longest_ns == 5 * kNsPerS);
  CHECK(stalls.total_ns == 7 * kNsPerS);
}

TEST_CASE("only the part of a stall counts that lies between the moments", "[stalls]") {
  StallLog log;
  wake_late(log, 14 * kNsPerS);
  CHECK(log.between(13 * kNsPerS, 30 * kNsPerS).total_ns == 1 * kNsPerS);
  CHECK(log.between(0, 11 * kNsPerS).longest_ns == 1 * kNsPerS);
  CHECK(log.between(11 * kNsPerS, 13 * kNsPerS).longest_ns == 2 * kNsPerS);
  CHECK(log.between(14 * kNsPerS, 30 * kNsPerS).count == 0);
  CHECK(log.between(0, 10 * kNsPerS).count == 0);
}

TEST_CASE("a thread that only waited for a core did not stand still", "[stalls]") {
  StallLog log;
  wake_late(log, 13 * kNsPerS, 3 * kNsPerS);
  wake_late(log, 13 * kNsPerS, 3 * kNsPerS - StallLog::kLongestDelayNs);
  CHECK(log.between(0, 20 * kNsPerS).count == 0);
  wake_late(log, 13 * kNsPerS, 1 * kNsPerS);
  CHECK(log.between(0, 20 * kNsPerS).longest_ns == 2 * kNsPerS);
}

TEST_CASE("a thread that woke early, or on time, saw nothing", "[stalls]") {
  StallLog log;
  wake_late(log, 9 * kNsPerS);
  wake_late(log, 10 * kNsPerS);
  CHECK(log.between(0, 100 * kNsPerS).count == 0);
}

TEST_CASE("a watch has a thread of its own until it ends", "[stalls]") {
  StallWatch watch;
  CHECK(watch.thread_id() > 0);
  CHECK(watch.thread_id() != ::gettid());
  watch.end();
  watch.end();
}
