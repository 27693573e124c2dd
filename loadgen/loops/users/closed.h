// A closed loop of users that share threads.
#pragma once

#include <cstdint>
#include <memory>

#include "loadgen/loops/users/loop.h"

namespace loadgen::users {

// Each user does what a thread of ClosedLoop does, with the same phases. The users of a thread
// begin one after the other, so the time of each counts from its own first request.
class ClosedUserLoop final : public UserLoop {
 public:
  using UserLoop::UserLoop;

 private:
  enum class Part { kWarmup, kWindow, kCooldown };

  void send_requests(RunControl& control) override;
  void ended(User& one) override;
  void warm_up();
  void measure();
  void begin_next(User& one);
  bool must_end(const User& one);
  bool is_window_over(const User& one) const;
  void finish_counting(User& one);
  void begin_second_half_if_due();

  Part part_ = Part::kWarmup;   // of the thread; a user whose window is over cools down
  int counting_ = 0;            // users whose window is not over
  std::int64_t done_ = 0;       // requests that counted
  std::int64_t active_ns_ = 0;  // of the users whose window is over
};

// `shared` must outlive it.
std::unique_ptr<Load> make_closed_load(const Shared& shared);

}  // namespace loadgen::users
