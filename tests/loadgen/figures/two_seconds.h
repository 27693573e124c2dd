// The figures of a run that is made up, for tests of reports.
#pragma once

#include "base/clock.h"
#include "loadgen/figures/figures.h"

namespace tests {

// Two threads, two seconds, 400 requests of 10 ms and 1000 bytes.
inline loadgen::Figures two_seconds() {
  loadgen::Figures result;
  loadgen::Tally& tally = result.tally;
  for (int i = 0; i < 400; ++i) tally.response_ns.add(10 * base::kNsPerMs);
  tally.announced_bytes = tally.moved_bytes = 400'000;
  tally.elapsed_ns = 2 * base::kNsPerS;
  tally.active_ns = 4 * base::kNsPerS;
  return result;
}

}  // namespace tests
