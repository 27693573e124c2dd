// An open loop: requests are sent when they are due, whether or not earlier ones were answered.
#pragma once

#include <cstdint>
#include <memory>

#include "loadgen/loops/client_loop.h"
#include "loadgen/loops/schedule.h"

namespace loadgen {

// The threads of an open loop share one schedule. A thread that is free takes the next request,
// sleeps until it is due, and carries it out. While all threads have a request under way, further
// ones wait until a thread is free. That time is part of their response time, which counts from the
// moment at which they were due. No request is skipped.
//
// A request that is due inside the window counts. After the window, requests that still wait are
// sent for at most --timeout (the drain). Those that still wait then are counted as unfinished.
class OpenLoop final : public ClientLoop {
 public:
  // `schedule`, which all threads share, must outlive it.
  OpenLoop(Schedule& schedule, const Shared& shared, int thread)
      : ClientLoop(shared, thread), schedule_(schedule) {}

 private:
  void send_requests(RunControl& control) override;
  void meet(RunControl& control, std::int64_t number, std::int64_t due_ns);

  Schedule& schedule_;
  std::int64_t free_since_ns_ = 0;  // the end of the last request
};

// `shared` must outlive it.
std::unique_ptr<Load> make_open_load(const Shared& shared);

}  // namespace loadgen
