#include "telemetry/board.h"

#include <unistd.h>

#include <algorithm>
#include <bit>

namespace telemetry {

// The head has a cache line of its own. Fresh shared memory is all zeros, which is a valid head and
// valid slots. So slots that are never used take no memory.
Board::Board(std::size_t workers)
    : count_(std::min(workers, kMostSlots)),
      memory_((count_ + 2) * sizeof(Slot)),
      head_(static_cast<Head*>(memory_.address())),
      slots_(static_cast<Slot*>(memory_.address()) + 1) {
  static_assert(sizeof(Head) <= sizeof(Slot));
  shared_slot().is_shared = true;
}

template <typename Visit>
void Board::for_each_used(Visit visit) const {
  const std::size_t used = head_->used_slots.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < used; ++i) visit(slots_[i]);
  visit(shared_slot());
}

Totals Board::totals() const {
  Totals sum;
  for_each_used([&](const Slot& slot) {
    for (std::size_t i = 0; i < kCounters; ++i)
      sum.counters[i] += slot.counters[i].load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < kLevels; ++i)
      sum.levels[i] += slot.levels[i].load(std::memory_order_relaxed);
  });
  return sum;
}

std::vector<pid_t> Board::owners() const {
  std::vector<pid_t> pids;
  for_each_used([&](const Slot& slot) {
    const pid_t pid = slot.owner.load(std::memory_order_relaxed);
    if (pid != 0) pids.push_back(pid);
  });
  return pids;
}

void Board::release_place(std::size_t place) {
  if (place < count_) give_back(slots_[place]);
}

// The lowest free slot, so that few slots are ever used.
Slot& Board::take_any() {
  for (std::size_t word = 0; word * 64 < count_; ++word) {
    std::uint64_t taken = taken_[word].load(std::memory_order_relaxed);
    while (~taken != 0) {
      const auto bit = static_cast<std::size_t>(std::countr_one(taken));
      const std::size_t index = word * 64 + bit;
      if (index >= count_) break;
      if (taken_[word].compare_exchange_weak(taken, taken | std::uint64_t{1} << bit,
                                             std::memory_order_acquire))
        return own(index);
    }
  }
  return shared_slot();
}

Slot& Board::take_place(std::size_t place) { return place < count_ ? own(place) : shared_slot(); }

Slot& Board::own(std::size_t index) {
  slots_[index].owner.store(::getpid(), std::memory_order_relaxed);
  std::size_t used = head_->used_slots.load(std::memory_order_relaxed);
  while (used <= index &&
         !head_->used_slots.compare_exchange_weak(used, index + 1, std::memory_order_release)) {
  }
  return slots_[index];
}

void Board::give_back(Slot& slot) {
  if (slot.is_shared) return;
  for (auto& level : slot.levels) level.store(0, std::memory_order_relaxed);
  slot.owner.store(0, std::memory_order_relaxed);
  const auto index = static_cast<std::size_t>(&slot - slots_);
  taken_[index / 64].fetch_and(~(std::uint64_t{1} << index % 64), std::memory_order_release);
}

Lease::Lease(Board* board) : board_(board) {
  if (board_ != nullptr) my_slot = &board_->take_any();
}

Lease::Lease(Board* board, std::size_t place) : board_(board) {
  if (board_ != nullptr) my_slot = &board_->take_place(place);
}

Lease::~Lease() {
  if (board_ == nullptr) return;
  board_->give_back(*my_slot);
  my_slot = nullptr;
}

}  // namespace telemetry
