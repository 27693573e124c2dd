#include "loadgen/figures/thread_series.h"

#include "base/clock.h"
#include "tests/catch.h"

using base::kNsPerMs;
using base::kNsPerS;
using loadgen::ThreadSeries;

namespace {

constexpr std::int64_t kThreadStart = 50 * kNsPerS;

std::int64_t thread_at(std::int64_t ms) { return kThreadStart + ms * kNsPerMs; }

}  // namespace

TEST_CASE("each event counts in the second of its moment", "[loadgen]") {
  ThreadSeries series;
  series.begin(kThreadStart);
  series.start(thread_at(0));
  series.end(thread_at(999), 999);
  series.start(thread_at(999));
  series.end(thread_at(2000), 1001);
  series.start(thread_at(2000));
  series.fail(thread_at(2500));
  CHECK(series.seconds() == 3);

  const auto seconds = series.take_before(3);
  REQUIRE(seconds.size() == 3);
  CHECK(seconds[0].started == 2);
  CHECK(seconds[0].ended == 1);
  CHECK(seconds[0].response_ns == std::vector<std::int64_t>{999});
  CHECK(seconds[1].started + seconds[1].ended + seconds[1].failed == 0);
  CHECK(seconds[2].started == 1);
  CHECK(seconds[2].ended == 1);
  CHECK(seconds[2].failed == 1);
}

TEST_CASE("what comes too late for its second counts in the next one", "[loadgen]") {
  ThreadSeries series;
  series.begin(kThreadStart);
  series.start(thread_at(100));
  CHECK(series.take_before(2).size() == 1);
  series.end(thread_at(200), 1);
  CHECK(series.take_before(2).empty());
  const auto seconds = series.take_before(4);
  REQUIRE(seconds.size() == 1);
  CHECK(seconds[0].ended == 1);
}

TEST_CASE("bytes count only while a request that counts is under way", "[loadgen]") {
  ThreadSeries series;
  series.begin(base::now_ns());
  series.move(1);
  series.start(base::now_ns());
  series.move(20);
  series.end(base::now_ns(), 1);
  series.move(300);
  std::uint64_t bytes = 0;
  for (const auto& second : series.take_before(series.seconds())) bytes += second.bytes;
  CHECK(bytes == 20);
}

TEST_CASE("a request that was given up has a response time", "[loadgen]") {
  ThreadSeries series;
  series.begin(kThreadStart);
  series.start(thread_at(0));
  series.fail(thread_at(10));
  series.give_up(thread_at(10), 10);
  const auto seconds = series.take_before(1);
  CHECK(seconds[0].failed == 1);
  CHECK(seconds[0].response_ns.size() == 1);
}
