#include "fileserver/auth/asking_places.h"

namespace fileserver {

bool AskingPlaces::take(base::Deadline take_by, bool& has_waited) {
  const base::Lock lock(mutex_);
  if (taken_ < kMost) {
    ++taken_;
    return true;
  }
  has_waited = true;
  Waiter mine;
  waiting_.push_back(&mine);
  while (!mine.has_place && !take_by.has_passed()) mine.given.wait_ms(mutex_, take_by.left_ms());
  if (!mine.has_place) std::erase(waiting_, &mine);
  return mine.has_place;
}

// A place goes from one to the next, so nobody who comes later is in front.
void AskingPlaces::give_back() {
  const base::Lock lock(mutex_);
  if (waiting_.empty()) {
    --taken_;
    return;
  }
  Waiter& next = *waiting_.front();
  waiting_.pop_front();
  next.has_place = true;
  next.given.wake_one();
}

}  // namespace fileserver
