// An open loop whose requests are sent by users that share threads.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "loadgen/loops/schedule.h"
#include "loadgen/loops/users/loop.h"

namespace loadgen::users {

// Each thread takes requests from the schedule that all share, as long as one of its users is free,
// and the user that has been free for the longest time sends the request when it is due. The rest
// is as with OpenLoop.
class OpenUserLoop final : public UserLoop {
 public:
  // `schedule`, which all threads share, must outlive it. `thread` counts from 0.
  OpenUserLoop(Schedule& schedule, const Shared& shared, int thread)
      : UserLoop(shared, {.part = thread, .parts = shared.config.threads}), schedule_(schedule) {}

 private:
  void send_requests(RunControl& control) override;
  void ended(User& one) override;
  std::int64_t send_what_is_due();
  void meet(const Schedule::Turn& turn, std::int64_t due_ns);

  Schedule& schedule_;
  std::optional<Schedule::Turn> turn_;  // the next request of this thread
  std::deque<User*> free_;              // those that became free first are in front
};

// `shared` must outlive it.
std::unique_ptr<Load> make_open_load(const Shared& shared);

}  // namespace loadgen::users
