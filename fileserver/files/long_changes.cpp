#include "fileserver/files/long_changes.h"

namespace fileserver {

LongChanges::Place::Place(LongChanges& changes, std::string_view user,
                          const std::function<bool()>& may_wait)
    : changes_(changes), user_(user), is_taken_(changes.take(*this, may_wait)) {}

LongChanges::Place::~Place() {
  if (is_taken_) changes_.give_back(*this);
}

bool LongChanges::take(Place& place, const std::function<bool()>& may_wait) {
  constexpr int kAskAgainMs = 200;  // whether one hangs, or the client is gone
  do {
    const base::Lock lock(mutex_);
    if (!may_begin(place.user_)) one_ended_.wait_ms(mutex_, kAskAgainMs);
    if (may_begin(place.user_)) {
      place.goes_on();
      at_work_.push_back(&place);
      return true;
    }
  } while (may_wait());
  return false;
}

void LongChanges::give_back(const Place& place) {
  const base::Lock lock(mutex_);
  std::erase(at_work_, &place);
  one_ended_.wake_all();
}

bool LongChanges::may_begin(std::string_view user) const {
  const std::int64_t now_ns = base::now_ns();
  std::size_t all = 0;
  std::size_t of_user = 0;
  for (const Place* const one : at_work_) {
    const std::int64_t seen_ns = one->seen_ns_.load(std::memory_order_relaxed);
    if (now_ns - seen_ns > hangs_ms_ * base::kNsPerMs) continue;
    ++all;
    if (one->user_ == user) ++of_user;
  }
  return all < kMost && of_user < kMostOfUser;
}

}  // namespace fileserver
