// What the threads of one run share: where they start, when they stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <latch>

#include "net/fd.h"

namespace loadgen {

// Counts the threads that have come somewhere, and wakes who waits for them.
class Arrivals {
 public:
  // Throws std::system_error when there is no descriptor to be had.
  Arrivals();

  // Any thread.
  void arrive();

  // The one that waits: how many have come since the last call. Readable: at least one.
  int fd() const { return fd_.get(); }
  int take();

 private:
  net::Fd fd_;
};

// Each part: all threads arrive, then the one that starts them writes the moments of that part and
// opens its gate. With a warm-up the threads arrive, run it, arrive again, and run what counts; at
// its end they arrive once more.
struct Course {
  Arrivals arrivals;

  std::latch warmup_gate{1};
  std::latch gate{1};

  // Written before their gate opens. End: no request begins after it.
  std::int64_t warmup_end_ns = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;

  // Any thread; orders nothing, so relaxed. No request begins after a thread has seen it.
  std::atomic<bool> must_stop = false;
};

}  // namespace loadgen
