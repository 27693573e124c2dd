#include "fileserver/files/long_changes.h"

namespace fileserver {

LongChanges::Place::Place(LongChanges& changes, std::string_view user,
                          const std::function<bool()>& may_wait)
    : changes_(changes), user_(user), is_taken_(changes.take(*this, may_wait)) {}

LongChanges::Place::~Place() {
  if (is_taken_) changes_.give_back(*this);
}

bool LongChanges::take(Place& place, const std::function<bool()>& may_wait) {
  {
    const base::Lock lock(mutex_);
    place.self_ = waiting_.insert(waiting_.end(), &place);
  }
  do {
    if (begin(place)) return true;
  } while (may_wait());
  give_up(place);
  return false;
}

bool LongChanges::begin(Place& place) {
  constexpr int kAskAgainMs = 200;  // whether one hangs, or the client is gone
  const base::Lock lock(mutex_);
  if (!is_next(place)) changed_.wait_ms(mutex_, kAskAgainMs);
  if (!is_next(place)) return false;
  place.goes_on();
  begun_.splice(begun_.end(), waiting_, place.self_);
  const bool has_more = has_place_for({});
  if (has_more) changed_.wake_all();
  return true;
}

// Who stood behind it may be the next one now.
void LongChanges::give_up(const Place& place) {
  const base::Lock lock(mutex_);
  const bool was_next = is_next(place);
  waiting_.erase(place.self_);
  if (was_next) changed_.wake_all();
}

void LongChanges::give_back(const Place& place) {
  const base::Lock lock(mutex_);
  begun_.erase(place.self_);
  changed_.wake_all();
}

// However many wait, of a user who has all places of one nobody is looked at.
bool LongChanges::is_next(const Place& place) const {
  if (!has_place_for(place.user_)) return false;
  std::string_view full;  // a user who has all places of one
  for (const Place* const first : waiting_) {
    if (first == &place) return true;
    if (first->user_ == full) continue;
    if (has_place_for(first->user_)) return false;
    full = first->user_;
  }
  return false;
}

bool LongChanges::has_place_for(std::string_view user) const {
  const std::int64_t now_ns = base::now_ns();
  std::size_t all = 0;
  std::size_t of_user = 0;
  for (const Place* const begun : begun_) {
    const std::int64_t seen_ns = begun->seen_ns_.load(std::memory_order_relaxed);
    if (now_ns - seen_ns > hangs_ms_ * base::kNsPerMs) continue;
    ++all;
    if (begun->user_ == user) ++of_user;
  }
  return all < kMost && of_user < kMostOfUser;
}

}  // namespace fileserver
