// One thread of a burst.
#pragma once

#include "loadgen/loops/burst/rounds.h"
#include "loadgen/loops/client_loop.h"

namespace loadgen::burst {

// In each round it connects, logs in and waits at the release; then it asks for its file. The next
// round begins when the transfers of all threads have ended.
//
// The response time of its requests starts at the release, where they ask for their files.
class BurstLoop final : public ClientLoop {
 public:
  // `rounds`, which all threads share, must outlive it.
  BurstLoop(Rounds& rounds, const Shared& shared, int thread)
      : ClientLoop(shared, thread), rounds_(rounds), thread_(thread) {}

 private:
  void send_requests(RunControl& control) override;

  Rounds& rounds_;
  const int thread_;
};

}  // namespace loadgen::burst
