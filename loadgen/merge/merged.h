// One result of many testers.
#pragma once

#include <vector>

#include "base/result.h"
#include "loadgen/figures/summary.h"
#include "loadgen/merge/part.h"

namespace loadgen::merge {

// When all testers were measuring, on the wall clock. Their hosts' clocks may differ.
struct SharedWindow {
  double start_unix_s = 0;  // the latest start
  double end_unix_s = 0;    // the earliest end
  double start_spread_s = 0;
  double end_spread_s = 0;

  double seconds() const { return end_unix_s > start_unix_s ? end_unix_s - start_unix_s : 0; }
};

// Requires: there is a part.
SharedWindow shared_window(const std::vector<Part>& parts);

// How many requests of one tester were answered in the window. Whole seconds of the tester are
// counted exactly. A second that an end of the window cuts counts by the part of it that is inside.
double requests_within(const Part& part, const SharedWindow& window);

struct Merged {
  Config config;
  Figures figures;
  Summary summary;
  SharedWindow window;
  std::size_t parts = 0;
};

// Adds counts, bytes, errors and distributions exactly. The throughput is that of the window that
// all share. Valid only if all are, and if they share a window.
//
// The plateau of a ramp is that of each tester's own clock, and its requests are added exactly.
//
// Fails in one line if a part is of another request, protocol, connection, kind of loop, plateau,
// number of shares or size than the first one, or if two have the same share. Requires: there is a
// part.
base::Result<Merged> merge(const std::vector<Part>& parts);

}  // namespace loadgen::merge
