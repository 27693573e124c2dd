// A closed loop of users that share threads.
#pragma once

#include <cstdint>
#include <memory>

#include "loadgen/clients/think.h"
#include "loadgen/loops/users/loop.h"

namespace loadgen::users {

// Each user does what a thread of ClosedLoop does, with the same phases. The users of a thread
// begin one after the other, so the time of each counts from its own first request, or with --think
// from the pause before it.
class ClosedUserLoop final : public UserLoop {
 public:
  ClosedUserLoop(const Shared& shared, Share share)
      : UserLoop(shared, share), think_(config_.think, config_.seed, clients_of_load(config_)) {}

 private:
  enum class Part { kWarmup, kWindow, kCooldown };

  void send_requests(RunControl& control) override;
  void ended(User& one) override;
  void woke(User& one) override;
  bool cuts_pauses() const override;
  void warm_up();
  void measure();
  void begin_next(User& one);
  void pause(User& one);
  std::int64_t end_of_pauses(const User& one) const;
  void send(User& one);
  bool must_end(const User& one);
  bool is_window_over(const User& one) const;
  void finish_counting(User& one, std::int64_t end_ns);
  void begin_second_half_if_due();

  const Think think_;
  int pausing_ = 0;             // users
  Part part_ = Part::kWarmup;   // of the thread; a user whose window is over cools down
  int counting_ = 0;            // users whose window is not over
  std::int64_t done_ = 0;       // requests that counted
  std::int64_t active_ns_ = 0;  // of the users whose window is over
};

// `shared` must outlive it.
std::unique_ptr<Load> make_closed_load(const Shared& shared);

}  // namespace loadgen::users
