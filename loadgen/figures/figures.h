// What a run of any kind has measured.
//
// How a latency becomes a number in the JSON, and why each step exists:
//
//   Client     sends one request and reads the clock at its start and at its last byte.
//   Exchange   is what the Client returns: those moments, the bytes, and why it failed.
//   Recorder   adds each Exchange of one thread to its Tally, so it needs no lock.
//   Tally      is what one thread measured: counts, sums in nanoseconds, and a Histogram.
//   Histogram  keeps every response time to within 0.8%, because percentiles need all of them.
//   Figures    are the sum of all Tallies, and what no thread knows, such as the CPU time used.
//   Summary    is the Figures in rates, means and percentiles, and the check of N = X*R. No
//              other step converts units or decides whether the run is valid.
//   json_of, table_of  print Figures and their Summary, and compute nothing.
//
// An Exchange lives on the stack of its thread for one request. Tallies are read only after their
// threads were joined. Then run() adds them up, and main() makes the Summary and prints it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "loadgen/cpu.h"
#include "loadgen/figures/burst.h"
#include "loadgen/figures/count_check.h"
#include "loadgen/figures/crowd.h"
#include "loadgen/figures/end.h"
#include "loadgen/figures/tally.h"
#include "loadgen/figures/under_way.h"
#include "loadgen/stalls.h"

namespace loadgen {

struct Figures {
  Tally tally = {};                       // of all threads, in the measured window
  double start_unix_s = 0;                // when that window began
  CpuUse cpu = {};                        // over that window
  Stalls stalls = {};                     // of loadgen, while what it measured could still count
  std::vector<std::string> servers = {};  // the addresses of the server that were used
  int sources = 1;                        // the number of local addresses that were used
  End end = End::kTime;
  std::optional<Cause> hopeless = {};       // the run ended because all failed for this cause
  int stop_signal = 0;                      // SIGINT or SIGTERM if one of them ended the run early
  bool has_halves = false;                  // the run ended when its second half was over
  std::optional<std::string> warning = {};  // what was wrong with the host at the end
  std::optional<CountCheck> count_check = {};  // with --telemetry
  UnderWay under_way = {};                     // in the window of a closed loop or an open one
  Silence silence = {};                        // in the same window

  // What only the main thread knows, and only for some kinds of run.
  std::optional<std::vector<burst::Sums>> rounds = {};  // of a burst
  std::optional<crowd::Outcome> crowd = {};
  std::optional<PlateauTime> plateau = {};  // of a ramp
  std::optional<double> start_late_s = {};  // with --start-at, if it has begun
};

}  // namespace loadgen
