// One run, from the first thread to the last: starts them together, watches, stops, adds up.
#pragma once

#include "base/result.h"
#include "loadgen/config.h"
#include "loadgen/cpu.h"
#include "loadgen/preflight.h"
#include "loadgen/tally.h"

namespace loadgen {

struct RunResult {
  Tally tally;
  double start_unix_s = 0;  // when the measured window began
  CpuUse cpu;               // over that window
  int stop_signal = 0;      // SIGINT or SIGTERM when one of them ended the run early
};

// Requires: SIGINT and SIGTERM are held back (serve::hold_stop_signals). The first one ends the
// run, the second one the program. An error when the threads could not be started, or a file not be
// saved.
base::Result<RunResult> run(const Config& config, const Ready& ready);

}  // namespace loadgen
