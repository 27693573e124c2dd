#include "loadgen/loops/crowd/wheel.h"

#include <algorithm>
#include <bit>

namespace loadgen::crowd {

Wheel::Wheel(std::uint32_t users)
    : timers_(users), slots_(kSlots, kNone), is_occupied_(kSlots / 64) {}

void Wheel::set(std::uint32_t user, std::int64_t tick) {
  clear(user);
  Timer& timer = timers_[user];
  timer.tick = std::max(tick, done_tick_ + 1);
  timer.is_set = true;
  const std::uint32_t slot = slot_of(timer.tick);
  timer.next = slots_[slot];
  timer.before = kNone;
  if (timer.next != kNone) timers_[timer.next].before = user;
  slots_[slot] = user;
  is_occupied_[slot / 64] |= std::uint64_t{1} << slot % 64;
}

void Wheel::clear(std::uint32_t user) {
  Timer& timer = timers_[user];
  if (!timer.is_set) return;
  timer.is_set = false;
  const std::uint32_t slot = slot_of(timer.tick);
  if (timer.next != kNone) timers_[timer.next].before = timer.before;
  if (timer.before != kNone) {
    timers_[timer.before].next = timer.next;
  } else {
    slots_[slot] = timer.next;
  }
  if (slots_[slot] == kNone) is_occupied_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
}

void Wheel::take_due(std::int64_t tick, std::vector<std::uint32_t>& due) {
  // After a pause of more than a turn, each slot is looked at once.
  const std::int64_t first = std::max(done_tick_ + 1, tick - std::int64_t{kSlots} + 1);
  for (std::int64_t at = first; at <= tick; ++at) {
    const std::uint32_t slot = slot_of(at);
    if ((is_occupied_[slot / 64] >> slot % 64 & 1) != 0) take_slot(slot, tick, due);
  }
  done_tick_ = std::max(done_tick_, tick);
}

void Wheel::take_slot(std::uint32_t slot, std::int64_t tick, std::vector<std::uint32_t>& due) {
  for (std::uint32_t user = slots_[slot]; user != kNone;) {
    const std::uint32_t next = timers_[user].next;
    if (timers_[user].tick <= tick) {
      clear(user);
      due.push_back(user);
    }
    user = next;
  }
}

std::int64_t Wheel::next_tick() const {
  const std::uint32_t begin = slot_of(done_tick_ + 1);
  for (std::uint32_t looked_at = 0; looked_at <= kSlots;) {
    const std::uint32_t slot = (begin + looked_at) & (kSlots - 1);
    const std::uint64_t rest = is_occupied_[slot / 64] >> slot % 64;
    if (rest != 0) {
      const auto distance = looked_at + static_cast<std::uint32_t>(std::countr_zero(rest));
      return done_tick_ + 1 + distance;
    }
    looked_at += 64 - slot % 64;
  }
  return INT64_MAX;
}

}  // namespace loadgen::crowd
