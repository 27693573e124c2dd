#include "fileserver/files/long_changes.h"

namespace fileserver {

LongChanges::Place::Place(LongChanges& changes, std::string_view user,
                          const std::function<bool()>& may_wait)
    : changes_(changes), user_(user) {
  changes_.wait(*this, may_wait);
}

LongChanges::Place::~Place() { changes_.leave(*this); }

void LongChanges::wait(Place& place, const std::function<bool()>& may_wait) {
  {
    const base::Lock lock(mutex_);
    places_.push_back(&place);
  }
  while (!begin(place) && may_wait()) {
  }
  if (!place.is_taken()) leave(place);
}

bool LongChanges::begin(Place& place) {
  constexpr int kAskAgainMs = 200;  // whether one hangs, or the client is gone
  const base::Lock lock(mutex_);
  if (!is_next(place)) changed_.wait_ms(mutex_, kAskAgainMs);
  if (!is_next(place)) return false;
  place.goes_on();
  place.is_taken_.store(true, std::memory_order_relaxed);
  changed_.wake_all();
  return true;
}

void LongChanges::leave(const Place& place) {
  const base::Lock lock(mutex_);
  if (std::erase(places_, &place) > 0) changed_.wake_all();
}

bool LongChanges::is_next(const Place& place) const {
  for (const Place* const first : places_) {
    if (!first->is_taken() && has_place_for(first->user_)) return first == &place;
  }
  return false;
}

bool LongChanges::has_place_for(std::string_view user) const {
  const std::int64_t now_ns = base::now_ns();
  std::size_t all = 0;
  std::size_t of_user = 0;
  for (const Place* const other : places_) {
    const std::int64_t seen_ns = other->seen_ns_.load(std::memory_order_relaxed);
    if (!other->is_taken() || now_ns - seen_ns > hangs_ms_ * base::kNsPerMs) continue;
    ++all;
    if (other->user_ == user) ++of_user;
  }
  return all < kMost && of_user < kMostOfUser;
}

}  // namespace fileserver
