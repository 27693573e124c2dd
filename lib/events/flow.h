// A context of a loop: does a task, and waits in the middle of it.
#pragma once

#include "base/parking.h"
#include "events/context.h"
#include "events/loop.h"

namespace events {

class Flow final : public Runnable, public Timer, public base::Parked, private Context {
 public:
  // Throws std::bad_alloc.
  explicit Flow(Loop& loop) : loop_(loop) {}

  void is_due() override;
  void is_woken() override;

 private:
  friend class Loop;
  friend class OwnDescriptor;

  void go_on(Loop& loop) override;
  void body() override;

  Loop& loop_;
  Task* task_ = nullptr;          // null: it is free
  OwnDescriptor* own_ = nullptr;  // that of the task
  Flow* posted_behind_ = nullptr;
  std::int64_t until_ns_ = kNever;  // of its sleep. Its timer may be armed for earlier
  bool is_timed_out_ = false;
  bool is_unparked_ = false;  // somebody has woken it, or its helper is done
  int units_left_ = 0;        // of its turn
};

}  // namespace events
