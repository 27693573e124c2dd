// The CPU time that loadgen itself uses.
#pragma once

namespace loadgen {

// Returns the CPU time in seconds, user and system, that all threads of this process have used
// since it started.
double process_cpu_s();

// The average over the measured window.
struct CpuUse {
  double used_cores = 0;
  double allowed_cores = 0;

  // Whether loadgen uses over 90% of the cores that `threads` threads can use. Then the figures may
  // show the limit of loadgen instead of the server's.
  bool is_bottleneck(int threads) const;
};

}  // namespace loadgen
