// Sleeping until a word in memory changes. The word may lie in memory that processes share.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>

#include "base/clock.h"

namespace base {

// Sleeps while the word has this value, until a time of base::now_ns(). May return earlier.
template <typename Word>
void sleep_while(std::atomic<Word>& word, Word value, std::int64_t until_ns) {
  static_assert(sizeof word == 4 && std::atomic<Word>::is_always_lock_free);
  const timespec until{until_ns / kNsPerS, until_ns % kNsPerS};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, static_cast<std::uint32_t>(value), &until, nullptr,
            FUTEX_BITSET_MATCH_ANY);
}

// Wakes one that sleeps, after the word was changed.
template <typename Word>
void wake(std::atomic<Word>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace base
