// Remembers which pairs of user and password were right lately, and from where.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "serve/shared_memory.h"

namespace fileserver {

// A keyed hash of an address, a user and a password; see GuessThrottle. Zero is not the hash of any
// pair.
using PairHash = std::uint64_t;

// It is only a hint: the authserver is asked for every log-in. It says which log-ins are probably
// no guesses, and cost the authserver no password hash. A pair is forgotten after 900 s, because by
// default the authserver forgets it then (--verified-memo), or up to 15 s sooner. The table has a
// fixed size, 512 KiB by default; a new pair may take the place of another one.
//
// Times are those of base::now_ns(). Any thread, and any process that was forked since it was made;
// takes no lock.
class RightPairs {
 public:
  static constexpr std::int64_t kLifeNs = 900 * base::kNsPerS;
  static constexpr std::size_t kSets = 8 * 1024;  // of eight pairs each

  // Requires: `sets` is a power of two.
  explicit RightPairs(std::size_t sets = kSets) : sets_(sets) {}

  bool contains(PairHash pair, std::int64_t now_ns) const {
    for (const auto& place : sets_[number_of_set(pair)]) {
      const std::uint64_t value = place.load(std::memory_order_relaxed);
      if (is_of(value, pair) && is_fresh(value, now_ns)) return true;
    }
    return false;
  }

  void remember(PairHash pair, std::int64_t now_ns) {
    Set& set = sets_[number_of_set(pair)];
    auto* chosen = &set[(pair >> 32) % set.size()];
    for (auto& place : set) {
      const std::uint64_t value = place.load(std::memory_order_relaxed);
      if (is_of(value, pair) || !is_fresh(value, now_ns)) {
        chosen = &place;
        break;
      }
    }
    chosen->store((pair & kHashBits) | tick_of(now_ns), std::memory_order_relaxed);
  }

  void forget(PairHash pair) {
    for (auto& place : sets_[number_of_set(pair)]) {
      std::uint64_t value = place.load(std::memory_order_relaxed);
      if (is_of(value, pair)) place.compare_exchange_strong(value, 0, std::memory_order_relaxed);
    }
  }

 private:
  using Set = std::array<std::atomic<std::uint64_t>, 8>;  // a place is 0 when it is unused

  // The upper 48 bits of a place are those of the hash, whose lower ones are the number of the set.
  // The lower 16 bits of the place say when the pair was right, in ticks that start again after 11
  // days.
  static constexpr std::uint64_t kHashBits = ~std::uint64_t{0xffff};
  static constexpr std::int64_t kTickNs = 15 * base::kNsPerS;

  static std::uint64_t tick_of(std::int64_t time_ns) {
    return static_cast<std::uint64_t>(time_ns / kTickNs) & ~kHashBits;
  }
  static bool is_of(std::uint64_t value, PairHash pair) {
    return value != 0 && (value & kHashBits) == (pair & kHashBits);
  }
  static bool is_fresh(std::uint64_t value, std::int64_t now_ns) {
    const std::uint64_t age = (tick_of(now_ns) - value) & ~kHashBits;
    return value != 0 && age < static_cast<std::uint64_t>(kLifeNs / kTickNs);
  }

  std::size_t number_of_set(PairHash pair) const { return pair & (sets_.size() - 1); }

  const serve::SharedZeros<Set> sets_;
};

}  // namespace fileserver
