// Who changes the same file takes turns.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "base/mutex.h"

namespace fileserver {

// The names that are busy, and who waits for them. The turn of a name is no lock: its owner may
// wait for a disk, because no mutex is held meanwhile. The others wait for it as they would wait
// for an answer. They get it in the order in which they came. Different names do not wait for each
// other.
//
// Any thread.
class Turns {
 public:
  Turns() = default;
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // One turn: it is taken by the constructor and given back by the destructor, maybe by another
  // thread. It takes no memory, so it never fails.
  class Turn {
   public:
    // Waits until it is this one's turn. `turns` and what `name` points to must outlive the turn.
    // Requires: the caller does not have the turn of this name already.
    Turn(Turns& turns, std::string_view name);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    friend class Turns;

    Turns& turns_;
    const std::string_view name_;
    Turn* next_ = nullptr;  // the one that came after this one, in the same slot
  };

  // The turns of two different names, taken in one order by all, so that nobody waits in a circle.
  class OfBoth {
   public:
    OfBoth(Turns& turns, std::string_view one, std::string_view other)
        : first_(turns, std::min(one, other)), second_(turns, std::max(one, other)) {}

   private:
    Turn first_;
    Turn second_;
  };

 private:
  // A part of the names, by their hash.
  struct Slot {
    base::Mutex mutex;
    base::Condition one_has_left;
    Turn* first GUARDED_BY(mutex) = nullptr;  // those that have a turn or wait, as they came
    int waiting GUARDED_BY(mutex) = 0;
  };

  Slot& slot_of(std::string_view name);
  void enter(Turn& turn);
  void leave(Turn& turn);
  static bool is_due(const Slot& slot, const Turn& turn) REQUIRES(slot.mutex);

  std::array<Slot, 64> slots_;
};

}  // namespace fileserver
