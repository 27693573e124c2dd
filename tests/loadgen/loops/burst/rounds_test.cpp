#include "loadgen/loops/burst/rounds.h"

#include <atomic>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "tests/catch.h"

using loadgen::burst::Rounds;

namespace {

constexpr int kThreads = 4;

// Runs `body` with the number of each thread, counted from 0.
void in_threads(const auto& body) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&body, thread] { body(thread); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("nobody is released before all are ready, and no round begins before all have finished",
          "[loadgen]") {
  constexpr int kRounds = 200;
  Rounds rounds(kThreads, kRounds, [] { return false; });
  std::atomic<int> ready = 0;
  std::atomic<int> finished = 0;
  std::atomic<int> too_early = 0;
  in_threads([&](int thread) {
    for (int round = 0; rounds.begin_next(); ++round) {
      if (finished.load() != round * kThreads) ++too_early;
      ++ready;
      rounds.wait();
      if (ready.load() < (round + 1) * kThreads) ++too_early;
      rounds.finish(thread, {.asked_ns = 1, .first_byte_ns = 2, .file_end_ns = 3, .bytes = 7});
      // The others may be in the next round only when this thread is there too.
      ++finished;
    }
  });
  CHECK(too_early.load() == 0);
  CHECK(finished.load() == kRounds * kThreads);
  REQUIRE(rounds.ended().size() == kRounds);
  CHECK(rounds.ended().back().transfers == kThreads);
  CHECK(rounds.ended().back().bytes == 7 * kThreads);
}

TEST_CASE("the second half begins when half of the rounds have ended", "[loadgen]") {
  for (const int count : {1, 4, 5}) {
    Rounds rounds(1, count, [] { return false; });
    std::vector<bool> halves;
    while (rounds.begin_next()) {
      halves.push_back(rounds.is_in_second_half());
      rounds.finish(0, {});
    }
    CAPTURE(count);
    REQUIRE(halves.size() == static_cast<std::size_t>(count));
    for (int round = 0; round < count; ++round)
      CHECK(halves[static_cast<std::size_t>(round)] == (2 * round >= count));
  }
}

TEST_CASE("a server is held from the release until all have asked", "[loadgen]") {
  constexpr int kRounds = 200;
  std::atomic<int> asked = 0;
  std::atomic<int> too_early = 0;
  bool is_held = false;
  std::int64_t let_go = 0;
  const auto begin = [&] {
    is_held = true;
    if (asked.load() % (kThreads - 1) != 0) ++too_early;
  };
  const auto end = [&] {
    is_held = false;
    let_go = base::now_ns();
    if (asked.load() % (kThreads - 1) != 0) ++too_early;
  };
  Rounds rounds(kThreads, kRounds, [] { return false; }, {begin, end});
  in_threads([&](int thread) {
    while (rounds.begin_next()) {
      if (thread == 0) {  // it has failed before
        rounds.pass();
        continue;
      }
      rounds.wait();
      if (!is_held) ++too_early;
      const std::int64_t before = base::now_ns();
      ++asked;
      const std::int64_t begun = rounds.leave(before);
      if (begun < before || begun > let_go) ++too_early;
    }
  });
  CHECK(too_early.load() == 0);
  CHECK(rounds.ended().size() == kRounds);
}

TEST_CASE("a transfer begins when it is asked for if no server is held", "[loadgen]") {
  Rounds rounds(1, 1, [] { return false; });
  REQUIRE(rounds.begin_next());
  rounds.wait();
  CHECK(rounds.leave(7) == 7);
}

TEST_CASE("a burst that is stopped ends for all threads after the same round", "[loadgen]") {
  std::atomic<bool> must_stop = false;
  Rounds rounds(kThreads, 1000, [&] { return must_stop.load(); });
  std::atomic<int> finished = 0;
  in_threads([&](int thread) {
    while (rounds.begin_next()) {
      rounds.wait();
      rounds.finish(thread, {.has_failed = true});
      if (++finished == 3 * kThreads - 1) must_stop = true;
    }
  });
  CHECK(finished.load() == 3 * kThreads);
  REQUIRE(rounds.ended().size() == 3);
  CHECK(rounds.ended().front().failed == kThreads);
}

TEST_CASE("a burst that is stopped before its first round has none", "[loadgen]") {
  Rounds rounds(kThreads, 5, [] { return true; });
  std::atomic<int> begun = 0;
  in_threads([&](int) {
    if (rounds.begin_next()) ++begun;
  });
  CHECK(begun.load() == 0);
  CHECK(rounds.ended().empty());
}
