// How the main thread starts and stops the threads of the load together.
#pragma once

#include <atomic>
#include <cstdint>
#include <latch>
#include <optional>

#include "loadgen/figures/end.h"
#include "net/fd.h"

namespace loadgen {

// Counts the threads that have reached the end of a phase, and wakes the thread that waits for
// them. Its descriptor can be polled together with others, which a std::latch does not allow.
class Arrivals {
 public:
  // Throws std::system_error when no descriptor is left.
  Arrivals();

  // Any thread.
  void arrive();

  // Returns how many threads have arrived since the last call, without waiting. Only the waiting
  // thread calls it.
  int take();

  // Readable when at least one thread has arrived. Borrowed.
  int fd() const { return fd_.get(); }

 private:
  net::Fd fd_;
};

// Each phase starts in the same way: every thread arrives and waits at the phase's gate; the main
// thread writes the phase's times and opens the gate. In a closed loop the phases are the warm-up,
// if the user asked for one, and the measured window. In an open loop the schedule goes through
// both without a pause, so there is only one gate. After the last phase every thread arrives once
// more, and waits at the gate of the end, so that what the kernel knows of it can still be read.
class RunControl {
 public:
  explicit RunControl(int threads) : counted_threads_(threads) {}

  Arrivals arrivals;

  std::latch warmup_gate{1};
  std::latch window_gate{1};
  std::latch end_gate{1};

  // Written by the main thread before it opens the phase's gate, never afterwards. No request that
  // counts begins after the end of the window.
  std::int64_t warmup_start_ns = 0;
  std::int64_t warmup_end_ns = 0;
  std::int64_t window_start_ns = 0;
  std::int64_t window_end_ns = 0;

  // Halfway through the window. Requires: the times were written.
  std::int64_t middle_ns() const { return window_start_ns + (window_end_ns - window_start_ns) / 2; }

  // Any thread. A thread that has seen it begins no further request. Only the first call counts.
  void stop(End why);
  bool must_stop() const { return stopped_ns_.load(std::memory_order_relaxed) != 0; }

  // Why stop() was called first; nothing: it was not. Only after the threads were joined.
  std::optional<End> why_stopped() const;

  // The end of the window, or the moment of stop() if that came first.
  std::int64_t end_ns() const;

  // Sleeps until a time of base::now_ns(), until stop(), or until has_all_counted(). Returns
  // whether the time has come.
  bool sleep_until(std::int64_t until_ns);

  // Closed loop: each thread says once that its last request that counts has ended. The others
  // need the load that it makes until they have all said so.
  void finish_counting();
  bool has_all_counted() const { return counted_threads_.load(std::memory_order_relaxed) == 0; }

 private:
  void wake_sleepers();

  // No other data depends on these, so relaxed memory order is enough.
  std::atomic<std::int64_t> stopped_ns_ = 0;  // the moment of the first stop(); 0: not yet
  std::atomic<std::uint32_t> is_over_ = 0;    // the word on which threads sleep
  End why_stopped_ = End::kTime;              // written by the first stop()
  std::atomic<int> counted_threads_;          // whose last request that counts has not ended
};

}  // namespace loadgen
