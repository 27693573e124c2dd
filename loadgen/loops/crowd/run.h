// One run of a crowd: many users on few threads, each at its own slow rate.
//
//   Loop          has the users of one thread, and is told by its Wheel and its Engine whom to
//                 deal with next.
//   Pace          says when a user reads, and when it was too slow.
//   Conversation  asks for a file, by the Driver of the protocol.
//   Engine        waits for bytes: epoll, poll, signals or io_uring.
//   Stability     says when the run is over.
//   Tally         is what one thread counted; report.h prints the sum.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "loadgen/config/config.h"
#include "loadgen/figures/crowd.h"
#include "loadgen/preflight.h"

namespace loadgen::crowd {

enum class End { kStable, kSeconds, kTooSlow, kNobodyHolds, kSignal };

// The cores that loadgen used, in each second after all users were started.
struct CpuSamples {
  double least_cores = 0;
  double mean_cores = 0;
  double most_cores = 0;
  double allowed_cores = 0;
};

struct CrowdResult {
  Tally tally;
  Standing standing;  // at the end
  End end = End::kStable;
  int threads = 1;
  double start_unix_s = 0;
  double elapsed_s = 0;
  double steady_s = 0;  // of it, after all users were started
  CpuSamples cpu;       // over these; over the whole run if there are none
  std::vector<std::string> servers;
  int sources = 1;
  int stop_signal = 0;
};

// The threads of a crowd: --threads, or one for each core, but no more than users.
int threads_of(const Config& config);

// Runs the crowd to its end. Requires: SIGINT and SIGTERM are blocked, as for loadgen::run().
// Fails when a thread could not be started, or when the system refuses the engine.
base::Result<CrowdResult> run(const Config& config, const Ready& ready);

}  // namespace loadgen::crowd
