#include "fileserver/files/prefetched_files.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <vector>

#include "base/clock.h"
#include "tests/catch.h"

using fileserver::for_each_in_parallel;

namespace {

void no_report(std::size_t, double) {}

}  // namespace

TEST_CASE("the work is called once for each number", "[files]") {
  for (const std::size_t count : {0U, 1U, 7U, 1000U}) {
    CAPTURE(count);
    std::vector<std::atomic<int>> times(count);
    CHECK(for_each_in_parallel(
        count, [&](std::size_t i) { ++times[i]; }, [] { return true; }, no_report));
    CHECK(std::all_of(times.begin(), times.end(), [](const auto& done) { return done == 1; }));
  }
}

TEST_CASE("no further call starts once may_go_on() returns false", "[files]") {
  constexpr std::size_t kMany = 1'000'000;
  std::atomic<std::size_t> begun = 0;
  const auto work = [&](std::size_t) {
    ++begun;
    base::pause_ms(1);
  };
  CHECK_FALSE(for_each_in_parallel(
      kMany, work, [&] { return begun == 0; }, no_report));
  CHECK(begun < kMany);
}

TEST_CASE("an exception of a call ends the others and reaches the caller", "[files]") {
  constexpr std::size_t kMany = 1'000'000;
  std::atomic<std::size_t> begun = 0;
  const auto work = [&](std::size_t) {
    if (++begun == 10) throw std::bad_alloc();
    base::pause_ms(1);
  };
  CHECK_THROWS_AS(for_each_in_parallel(
                      kMany, work, [] { return true; }, no_report),
                  std::bad_alloc);
  CHECK(begun < kMany);
}
