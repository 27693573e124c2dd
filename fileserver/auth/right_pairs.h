// Remembers which pairs of user and password were right lately.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace fileserver {

// A keyed hash of a user and a password; see GuessThrottle. Zero is not the hash of any pair.
using PairHash = std::uint64_t;

// It is only a hint: the authserver is asked for every log-in. It says which log-ins are probably
// no guesses. The table has a fixed size of 512 KiB; a new pair may take the place of another one.
//
// Any thread; takes no lock.
class RightPairs {
 public:
  bool contains(PairHash pair) const {
    for (const auto& place : sets_[pair % kSets]) {
      if (place.load(std::memory_order_relaxed) == pair) return true;
    }
    return false;
  }

  void remember(PairHash pair) {
    Set& set = sets_[pair % kSets];
    for (auto& place : set) {
      PairHash none = 0;
      if (place.compare_exchange_strong(none, pair, std::memory_order_relaxed)) return;
    }
    set[(pair >> 32) % set.size()].store(pair, std::memory_order_relaxed);
  }

  void forget(PairHash pair) {
    for (auto& place : sets_[pair % kSets]) {
      PairHash expected = pair;
      place.compare_exchange_strong(expected, 0, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr std::size_t kSets = 8 * 1024;
  using Set = std::array<std::atomic<PairHash>, 8>;

  std::vector<Set> sets_{kSets};
};

}  // namespace fileserver
