// Sleeping until a word in memory changes. The word may lie in memory that processes share. Then
// those that sleep have threads of their own (base/waits.h).
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>

#include "base/clock.h"
#include "base/parking.h"
#include "base/waits.h"

namespace base {

// Whose threads sleep on a word and wake each other. Those of one process do so faster.
enum class Sleepers : int { kOfAnyProcess = 0, kOfOneProcess = FUTEX_PRIVATE_FLAG };

// Sleeps while the word has this value, until a time of base::now_ns(). Returns false when the time
// has come, and true otherwise, which may be for no reason.
template <Sleepers kSleepers = Sleepers::kOfAnyProcess, typename Word>
bool sleep_while(std::atomic<Word>& word, Word value, std::int64_t until_ns) {
  static_assert(sizeof word == 4 && std::atomic<Word>::is_always_lock_free);
  if (my_waits != nullptr) {
    const auto has = [](const void* at, std::uint32_t wanted) {
      const Word now = static_cast<const std::atomic<Word>*>(at)->load(std::memory_order_acquire);
      return static_cast<std::uint32_t>(now) == wanted;
    };
    return my_waits->sleep_on(&word, has, static_cast<std::uint32_t>(value), until_ns);
  }
  const timespec until{until_ns / kNsPerS, until_ns % kNsPerS};
  return ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | static_cast<int>(kSleepers),
                   static_cast<std::uint32_t>(value), &until, nullptr,
                   FUTEX_BITSET_MATCH_ANY) == 0 ||
         errno != ETIMEDOUT;
}

// Wakes one that sleeps, after the word was changed. The word may be gone since.
template <Sleepers kSleepers = Sleepers::kOfAnyProcess, typename Word>
void wake(std::atomic<Word>& word) {
  if (wake_parked(&word, 1) > 0) return;
  ::syscall(SYS_futex, &word, FUTEX_WAKE | static_cast<int>(kSleepers), 1, nullptr, nullptr, 0);
}

// Wakes all that sleep.
template <Sleepers kSleepers = Sleepers::kOfAnyProcess, typename Word>
void wake_all(std::atomic<Word>& word) {
  wake_parked(&word, INT_MAX);
  constexpr int kCall = FUTEX_WAKE | static_cast<int>(kSleepers);
  ::syscall(SYS_futex, &word, kCall, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace base
