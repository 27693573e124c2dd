// Those that sleep on a word in memory without a thread of their own.
#pragma once

#include <climits>

#include "base/waits.h"

namespace base {

// Who sleeps. It must not be destroyed while it is parked.
class Parked {
 public:
  // Called once for each park() that was not undone, by whoever wakes: any thread. Must be short,
  // and must not park, undo or wake.
  virtual void is_woken() = 0;

 protected:
  ~Parked() = default;

 private:
  friend struct ParkingLot;
  const void* word_ = nullptr;
  Parked* before_ = nullptr;
  Parked* behind_ = nullptr;
};

// From now on who wakes the word wakes this one. So the word is to be looked at after this, and
// before one sleeps. Threads: any, for each one its own.
void park(const void* word, Parked& sleeper);

// Requires: the word of park(). Returns false if it was woken before; then is_woken() has returned.
bool undo_park(Parked& sleeper, const void* word);

// Whether anybody sleeps, on whatever word. While nobody does, to wake costs no lock.
bool are_some_parked();

// Wakes those that sleep on the word, in the order in which they came, but at most `most`. Returns
// how many it has woken. Requires: the word was changed before. Threads: any.
int wake_parked_ones(const void* word, int most);

inline int wake_parked(const void* word, int most) {
  return some_have_waits.load(std::memory_order_relaxed) ? wake_parked_ones(word, most) : 0;
}

}  // namespace base
