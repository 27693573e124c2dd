#include "telemetry/board.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/catch.h"

using telemetry::Board;
using telemetry::Count;
using telemetry::Lease;
using telemetry::Level;
using telemetry::Timed;
using telemetry::Verb;

namespace {

// Runs `life` in a thread of its own, with a lease, and waits for its end.
template <typename Life>
void in_worker(Board& board, Life life) {
  std::thread([&] {
    const Lease lease(&board);
    life();
  }).join();
}

// Runs `life` in a child process, which ends without destructors.
template <typename Life>
void in_killed_child(Board& board, std::size_t place, Life life) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Lease lease(&board, place);
    life();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
}

}  // namespace

TEST_CASE("without a lease nothing is counted and nothing fails", "[telemetry]") {
  Board board(4);
  telemetry::add(Count::kSentBytes, 5);
  telemetry::count_request(Verb::kNew, {});
  const telemetry::Raised open(Level::kConnectionsOpen);
  { const telemetry::Stopwatch watch(Timed::kStoreFind); }
  const Lease none(nullptr);
  telemetry::add(Count::kSentBytes, 5);
  CHECK(board.totals().of(Count::kSentBytes) == 0);
  CHECK(board.totals().of(Verb::kNew, {}) == 0);
  CHECK(board.totals().of(Level::kConnectionsOpen) == 0);
}

TEST_CASE("the counts of workers that ended stay, in slots that others use again", "[telemetry]") {
  Board board(4);
  for (int i = 0; i < 100; ++i) {
    in_worker(board, [] { telemetry::add(Count::kSentBytes, 3); });
  }
  CHECK(board.totals().of(Count::kSentBytes) == 300);
  CHECK(board.owners().empty());
}

TEST_CASE("workers for which no slot is left share one", "[telemetry]") {
  Board board(2);
  std::atomic<int> ready = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < 8; ++i) {
    workers.emplace_back([&] {
      const Lease lease(&board);
      ++ready;
      while (ready < 8) std::this_thread::yield();
      const telemetry::Raised open(Level::kConnectionsOpen);
      for (int n = 0; n < 10'000; ++n) telemetry::add(Count::kMemoHits);
    });
  }
  for (std::thread& worker : workers) worker.join();
  CHECK(board.totals().of(Count::kMemoHits) == 80'000);
  CHECK(board.totals().of(Level::kConnectionsOpen) == 0);
}

TEST_CASE("workers that share a slot leave each other's levels alone", "[telemetry]") {
  Board board(1);
  const Lease own(&board);
  std::atomic<bool> is_open = false;
  std::atomic<bool> may_close = false;
  std::thread stays([&] {
    const Lease shared(&board);
    const telemetry::Raised open(Level::kConnectionsOpen);
    is_open = true;
    while (!may_close) std::this_thread::yield();
  });
  while (!is_open) std::this_thread::yield();
  std::thread([&] { const Lease shared(&board); }).join();
  CHECK(board.totals().of(Level::kConnectionsOpen) == 1);
  may_close = true;
  stays.join();
  CHECK(board.totals().of(Level::kConnectionsOpen) == 0);
}

TEST_CASE("what a child counted stays when it is killed, but not what it had open", "[telemetry]") {
  Board board(4);
  for (int i = 0; i < 3; ++i) {
    in_killed_child(board, 2, [] {
      telemetry::count_request(Verb::kLogIn, base::ErrorCode::kDenied);
      const telemetry::Raised open(Level::kConnectionsOpen);
      ::_exit(1);
    });
    CHECK(board.totals().of(Level::kConnectionsOpen) == 1);
    CHECK(board.owners().size() == 1);
    board.release_place(2);
    CHECK(board.totals().of(Level::kConnectionsOpen) == 0);
    CHECK(board.owners().empty());
  }
  CHECK(board.totals().of(Verb::kLogIn, base::ErrorCode::kDenied) == 3);
  CHECK(board.totals().of(Verb::kLogIn, {}) == 0);
}

TEST_CASE("a place behind the last slot is the shared one", "[telemetry]") {
  Board board(1);
  in_killed_child(board, 7, [] { telemetry::add(Count::kMemoHits); });
  board.release_place(7);
  CHECK(board.totals().of(Count::kMemoHits) == 1);
}

TEST_CASE("a time is in the first bucket whose bound it does not exceed", "[telemetry]") {
  Board board(1);
  const Lease lease(&board);
  for (const std::int64_t ns : {-1L, 0L, 100'000L, 100'001L, 5'000'000'000L, 5'000'000'001L}) {
    telemetry::record(Timed::kFile, ns);
  }
  const auto totals = board.totals();
  const auto histogram = totals.of(Timed::kFile);
  CHECK(histogram[0] == 3);
  CHECK(histogram[1] == 1);
  CHECK(histogram[14] == 1);
  CHECK(histogram[15] == 1);
  CHECK(histogram[telemetry::kBuckets] == 100'000 + 100'001 + 5'000'000'000 + 5'000'000'001);
  CHECK(totals.of(Timed::kPing)[0] == 0);
}

TEST_CASE("no two counters have the same place", "[telemetry]") {
  Board board(1);
  const Lease lease(&board);
  for (std::size_t verb = 0; verb < telemetry::kVerbs; ++verb) {
    telemetry::count_request(static_cast<Verb>(verb), {});
    telemetry::count_request(static_cast<Verb>(verb), {}, telemetry::Ending::kCut);
    for (const auto code : wire::kErrorCodes)
      telemetry::count_request(static_cast<Verb>(verb), code);
  }
  for (std::size_t i = 0; i < telemetry::kCounts; ++i) telemetry::add(static_cast<Count>(i));
  for (std::size_t i = 0; i < telemetry::kTimed; ++i) {
    for (const auto bound : telemetry::kBoundsNs) telemetry::record(static_cast<Timed>(i), bound);
    telemetry::record(static_cast<Timed>(i), telemetry::kBoundsNs.back() + 1);
  }
  const auto totals = board.totals();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < telemetry::kCounters; ++i) {
    const bool is_sum =
        i >= telemetry::kFirstHistogram &&
        (i - telemetry::kFirstHistogram) % telemetry::kHistogramSize == telemetry::kBuckets;
    wrong += !is_sum && totals.counters[i] != 1 ? 1 : 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a sum never becomes less while it is read", "[telemetry]") {
  Board board(4);
  std::atomic<bool> is_over = false;
  std::vector<std::thread> workers;
  for (int i = 0; i < 2; ++i) {
    workers.emplace_back([&] {
      while (!is_over) in_worker(board, [] { telemetry::add(Count::kMemoMisses); });
    });
  }
  std::uint64_t before = 0;
  bool has_shrunk = false;
  while (before < 500) {
    const std::uint64_t now = board.totals().of(Count::kMemoMisses);
    has_shrunk = has_shrunk || now < before;
    before = now;
  }
  is_over = true;
  for (std::thread& worker : workers) worker.join();
  CHECK_FALSE(has_shrunk);
}
