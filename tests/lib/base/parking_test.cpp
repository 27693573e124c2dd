#include "base/parking.h"

#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <thread>

#include "base/clock.h"
#include "tests/catch.h"

namespace {

struct alignas(64) Line {
  std::atomic<std::uint32_t> word = 0;
};

class Sleeper final : public base::Parked {
 public:
  void is_woken() override {}
};

}  // namespace

// A processor writes to memory later than the program does. The lines delay it further, because
// their last writer was the other thread.
TEST_CASE("who parks while another one wakes sees the change, or is woken", "[base]") {
  constexpr std::uint32_t kRounds = 1'500'000;  // beside others, few of them run at the same time
  constexpr std::uint32_t kMostDelay = 400;
  const auto deadline = base::Deadline::in_ms(10'000);
  std::array<Line, 8> lines;
  Line word, begun, done;
  const auto wait_for = [](const Line& line, std::uint32_t round) {
    for (int i = 0; line.word.load(std::memory_order_acquire) < round; ++i) {
      if (i > 10'000) std::this_thread::yield();
    }
  };
  const auto write_to_all = [&](std::uint32_t round) {
    for (Line& line : lines) line.word.store(round, std::memory_order_relaxed);
  };
  std::thread waker([&] {
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
      wait_for(begun, round);
      if (begun.word == UINT32_MAX) return;
      write_to_all(round);
      word.word.store(round, std::memory_order_relaxed);
      base::wake_parked_ones(&word, INT_MAX);
      done.word.store(round, std::memory_order_release);
    }
  });
  int lost = 0;
  Sleeper sleeper;
  for (std::uint32_t round = 1; round <= kRounds && lost == 0 && !deadline.has_passed(); ++round) {
    write_to_all(round);
    begun.word.store(round, std::memory_order_release);
    for (std::uint32_t i = round % kMostDelay; i > 0; --i)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    base::park(&word, sleeper);
    const bool is_seen = word.word.load(std::memory_order_relaxed) == round;
    wait_for(done, round);
    const bool is_woken = !base::undo_park(sleeper, &word);
    if (!is_seen && !is_woken) ++lost;
  }
  begun.word = UINT32_MAX;
  waker.join();
  CHECK(lost == 0);
}

TEST_CASE("who sleeps is counted until he is woken, or does not sleep after all", "[base]") {
  const int word = 0;
  Sleeper one, other;
  REQUIRE_FALSE(base::are_some_parked());
  base::park(&word, one);
  base::park(&word, other);
  CHECK(base::undo_park(one, &word));
  CHECK(base::are_some_parked());
  CHECK(base::wake_parked_ones(&word, INT_MAX) == 1);
  CHECK_FALSE(base::are_some_parked());
  CHECK_FALSE(base::undo_park(other, &word));
  CHECK_FALSE(base::are_some_parked());
}
