// A run of type crowd: many users on few threads, each at its own slow rate.
//
//   CrowdLoop     has the users of one thread, and is told by its Wheel and its Engine whom to
//                 deal with next.
//   Pace          says when a user reads, and when it was too slow.
//   Conversation  asks for a file, by the Driver of the protocol.
//   Engine        waits for bytes: epoll, poll, signals or io_uring.
//   Stability     says when the run is over.
#pragma once

#include <memory>

#include "base/result.h"
#include "loadgen/loops/load.h"

namespace loadgen::crowd {

// `shared` must outlive it. Fails when the system refuses the length of the queue of signals.
base::Result<std::unique_ptr<Load>> make_load(const Shared& shared);

}  // namespace loadgen::crowd
