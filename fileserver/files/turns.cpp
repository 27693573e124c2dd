#include "fileserver/files/turns.h"

#include <functional>

namespace fileserver {

Turns::Turn::Turn(Turns& turns, std::string_view name) : turns_(turns), name_(name) {
  turns_.enter(*this);
}

Turns::Turn::~Turn() { turns_.leave(*this); }

Turns::Slot& Turns::slot_of(std::string_view name) {
  return slots_[std::hash<std::string_view>()(name) % slots_.size()];
}

void Turns::enter(Turn& turn) {
  constexpr int kLookAtTurnMs = 1000;
  Slot& slot = slot_of(turn.name_);
  const base::Lock lock(slot.mutex);
  Turn** end = &slot.first;
  while (*end != nullptr) end = &(*end)->next_;
  *end = &turn;
  ++slot.waiting;
  while (!is_due(slot, turn)) slot.one_has_left.wait_ms(slot.mutex, kLookAtTurnMs);
  --slot.waiting;
}

// Whether nobody who came earlier has the same name.
bool Turns::is_due(const Slot& slot, const Turn& turn) {
  const Turn* earlier = slot.first;
  while (earlier != &turn && earlier->name_ != turn.name_) earlier = earlier->next_;
  return earlier == &turn;
}

void Turns::leave(Turn& turn) {
  Slot& slot = slot_of(turn.name_);
  const base::Lock lock(slot.mutex);
  Turn** place = &slot.first;
  while (*place != &turn) place = &(*place)->next_;
  *place = turn.next_;
  if (slot.waiting > 0) slot.one_has_left.wake_all();
}

}  // namespace fileserver
