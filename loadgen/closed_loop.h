// One thread of the load, and what it shares with the thread that controls the run.
#pragma once

#include <atomic>
#include <cstdint>
#include <latch>
#include <optional>
#include <string>
#include <vector>

#include "loadgen/client.h"
#include "loadgen/config.h"
#include "loadgen/recorder.h"
#include "loadgen/workload.h"
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

// How the main thread starts and stops all ClosedLoops together.
//
// Each phase starts in the same way: every thread arrives and waits at the phase's gate; the main
// thread writes the phase's times and opens the gate. The phases are the warm-up, if the user asked
// for one, and the measured window. After the last phase every thread arrives once more,
// and waits at the gate of the end, so that what the kernel knows of it can still be read.
struct RunControl {
  Arrivals arrivals;

  std::latch warmup_gate{1};
  std::latch window_gate{1};
  std::latch end_gate{1};

  // Written by the main thread before it opens the phase's gate, never afterwards. No request
  // begins after the end of its phase.
  std::int64_t warmup_end_ns = 0;
  std::int64_t window_start_ns = 0;
  std::int64_t window_end_ns = 0;

  // Any thread may set it. A thread that has seen it begins no further request. No other data
  // depends on it, so relaxed memory order is enough.
  std::atomic<bool> must_stop = false;
};

// Sends a request, waits for the whole reply, and sends the next one.
//
// Built before its thread starts, so that no preparation falls into the measured window.
class ClosedLoop {
 public:
  // All arguments but the last must outlive it. `thread` counts from 0.
  ClosedLoop(const Config& config, const std::vector<net::SocketAddress>& servers,
             const Sources& sources, NewAccounts& new_accounts, int thread)
      : config_(config),
        workload_(config, new_accounts, thread),
        client_(config, servers, sources, thread) {}

  // The body of the thread. Returns when the run is over.
  void run(RunControl& control) noexcept;

  // Any thread may call recorder().live(). Everything else only after the thread was joined.
  const Recorder& recorder() const { return recorder_; }

  // Why a file could not be saved, if that ended the run. Only after the thread was joined.
  const std::optional<std::string>& save_failure() const { return client_.save_failure(); }

 private:
  bool must_end(RunControl& control) const;
  bool is_window_over(const RunControl& control, std::int64_t done, std::int64_t now_ns) const;
  Exchange carry_out_next(RunControl& control);
  void warm_up(RunControl& control);
  void measure(RunControl& control);

  const Config& config_;
  Workload workload_;
  Client client_;
  Recorder recorder_;
};

}  // namespace loadgen
