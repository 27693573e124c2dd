// What the main thread waits for while the others work: threads that arrive, and signals.
#pragma once

#include <cstdint>
#include <functional>

#include "loadgen/run_control.h"
#include "net/fd.h"

namespace loadgen {

// The first SIGINT or SIGTERM stops the run, and unblocks both, so that a second one ends the
// program.
//
// One thread. Requires: both signals are blocked (base::hold_stop_signals).
class Watch {
 public:
  // `control` must outlive it. `look` is called before each wait, and says how many milliseconds it
  // may take at most.
  Watch(RunControl& control, std::function<int()> look);

  // Waits until so many threads have arrived, and forgets them.
  void wait_for(int threads);

  // Waits until a thread arrives, a signal comes, or a time of base::now_ns() is there; for a
  // minute at most.
  void wait_until(std::int64_t moment_ns);

  // Waits until that time is there, or the run is stopped.
  void sleep_until(std::int64_t moment_ns);

  // The threads that have arrived in wait_until() and sleep_until().
  int arrived() const { return arrived_; }

  // The signal that has stopped the run, or 0.
  int stop_signal() const { return stop_signal_; }

 private:
  void wait(int at_most_ms);
  void stop_early();

  RunControl& control_;
  const std::function<int()> look_;
  const net::Fd signals_;
  int arrived_ = 0;
  int stop_signal_ = 0;
};

}  // namespace loadgen
