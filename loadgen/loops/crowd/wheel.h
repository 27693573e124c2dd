// The timers of a thread's users.
#pragma once

#include <cstdint>
#include <vector>

namespace loadgen::crowd {

// A timing wheel: one timer for each user, in slots of one tick. Setting, clearing and taking a
// timer cost the same for one user as for a million. Timers further away than a turn of the wheel
// stay in their slot for another turn.
//
// A tick is a millisecond; the caller counts them from any moment. One thread.
class Wheel {
 public:
  explicit Wheel(std::uint32_t users);

  // Replaces the timer of the user, if it has one. A tick that has passed is due at once.
  void set(std::uint32_t user, std::int64_t tick);
  void clear(std::uint32_t user);

  // Appends the users whose timers are due by `tick` to `due` and clears these timers. Users of an
  // earlier tick come first. Requires: `tick` is not before that of the last call.
  void take_due(std::int64_t tick, std::vector<std::uint32_t>& due);

  // A tick before which no timer is due. It may be early, but only if a slot holds a timer of a
  // later turn. INT64_MAX if there is no timer.
  std::int64_t next_tick() const;

 private:
  static constexpr std::uint32_t kSlots = 1 << 14;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Timer {
    std::int64_t tick = 0;
    std::uint32_t next = kNone;  // in the list of the slot
    std::uint32_t before = kNone;
    bool is_set = false;
  };

  static std::uint32_t slot_of(std::int64_t tick) {
    return static_cast<std::uint32_t>(tick) & (kSlots - 1);
  }
  void take_slot(std::uint32_t slot, std::int64_t tick, std::vector<std::uint32_t>& due);

  std::vector<Timer> timers_;
  std::vector<std::uint32_t> slots_;        // the first user of each
  std::vector<std::uint64_t> is_occupied_;  // a bit for each slot
  std::int64_t done_tick_ = -1;             // all of it and before was taken
};

}  // namespace loadgen::crowd
