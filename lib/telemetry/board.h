// The slots of all workers of a server, and the sum over them.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/shared_memory.h"
#include "telemetry/counters.h"

namespace telemetry {

// The sum over all slots at one moment. It is read while workers count, so two sums may be of
// moments that differ by microseconds.
struct Totals {
  std::array<std::uint64_t, kCounters> counters{};
  std::array<std::int64_t, kLevels> levels{};

  std::uint64_t of(Verb verb, Outcome outcome, Ending ending = Ending::kAnswered) const {
    return counters[index_of(verb, outcome, ending)];
  }
  std::uint64_t of(Count count) const { return counters[index_of(count)]; }
  std::int64_t of(Level level) const { return levels[static_cast<std::size_t>(level)]; }

  // The buckets and the sum in nanoseconds, as in a slot.
  std::span<const std::uint64_t, kHistogramSize> of(Timed timed) const {
    return std::span(counters).subspan(index_of(timed)).first<kHistogramSize>();
  }
};

// Lies in the memory of each process; the slots are shared with the children that it forks later.
// Threads: any.
class Board {
 public:
  // Makes a slot for each of `workers`, but at most kMostSlots. The workers that find none share
  // the last slot. A slot takes memory once it was used.
  explicit Board(std::size_t workers);

  static constexpr std::size_t kMostSlots = 8192;

  Totals totals() const;

  // The processes that own slots now.
  std::vector<pid_t> owners() const;

  // Frees the slot of a child that has ended. Its levels are set to 0, because a child that was
  // killed could not do that. Its counters stay. Requires: nobody uses the slot now.
  void release_place(std::size_t place);

  // The server drains: it takes no new connections, and ends soon.
  void tell_draining() { head_->is_draining.store(true, std::memory_order_relaxed); }
  bool is_draining() const { return head_->is_draining.load(std::memory_order_relaxed); }

 private:
  friend class Lease;
  struct Head {
    std::atomic<std::size_t> used_slots;  // a slot behind these was never used
    std::atomic<bool> is_draining;
  };

  Slot& take_any();
  Slot& take_place(std::size_t place);
  void give_back(Slot& slot);
  Slot& own(std::size_t index);
  Slot& shared_slot() const { return slots_[count_]; }
  template <typename Visit>
  void for_each_used(Visit visit) const;

  const std::size_t count_;  // of the slots that are not shared
  const base::SharedMemory memory_;
  Head* const head_;
  Slot* const slots_;

  // One bit for each slot, set while a thread of this process owns it.
  std::array<std::atomic<std::uint64_t>, kMostSlots / 64> taken_{};
};

// Gives the calling thread a slot while it lives. One thread.
class Lease {
 public:
  // For a thread: takes any free slot. `board` may be null: then nothing is counted.
  explicit Lease(Board* board);

  // For a child process: takes the slot of this number. No two living children may have the same
  // number.
  Lease(Board* board, std::size_t place);

  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

 private:
  Board* const board_;
};

}  // namespace telemetry
