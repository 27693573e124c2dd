// One run of the load generator.
//
// How a latency becomes a number in the JSON, and why each step exists:
//
//   Loop       decides when a request is sent: ClosedLoop, OpenLoop or burst::Loop, in each thread.
//   Client     sends one request and reads the clock at its start and at its last byte.
//   Exchange   is what the Client returns: those moments, the bytes, and why it failed.
//   Recorder   adds each Exchange of one thread to its Tally, so it needs no lock.
//   Tally      is what one thread measured: counts, sums in nanoseconds, and a Histogram.
//   Histogram  keeps every response time to within 0.8%, because percentiles need all of them.
//   RunResult  is the sum of all Tallies, and what no thread knows, such as the CPU time used.
//   Summary    is the Tally in rates, means and percentiles, and the check of N = X*R. No
//              other step converts units or decides whether the run is valid.
//   report     prints a RunResult and its Summary, and computes nothing.
//
// An Exchange lives on the stack of its thread for one request. Tallies are read only after their
// threads were joined. Then run() adds them up, and main() makes the Summary and prints it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "loadgen/config/config.h"
#include "loadgen/cpu.h"
#include "loadgen/figures/burst.h"
#include "loadgen/figures/recorder.h"
#include "loadgen/preflight.h"

namespace loadgen {

struct RunResult {
  Tally tally;                                     // of all threads, in the measured window
  double start_unix_s = 0;                         // when that window began
  std::optional<std::vector<burst::Sums>> rounds;  // of a burst
  CpuUse cpu;                                      // over that window
  std::vector<std::string> servers;                // the addresses of the server that were used
  int sources = 1;                                 // the number of local addresses that were used
  int stop_signal = 0;                 // SIGINT or SIGTERM if one of them ended the run early
  std::optional<std::string> warning;  // what was wrong with the host at the end
};

// Starts all threads, lets them run, and joins them. Returns when the run is over.
//
// Requires: SIGINT and SIGTERM are blocked (base::hold_stop_signals). The first of them ends the
// run early, and the result so far is returned. It also unblocks both, so that a second one ends
// the program.
//
// Fails when the threads could not be started, or when a file or the record of a transfer could not
// be saved.
base::Result<RunResult> run(const Config& config, const Ready& ready);

}  // namespace loadgen
