// How much of the machine this program takes.
#pragma once

namespace loadgen {

// Used by all threads of this process since it started, in seconds; user and system.
double process_cpu_s();

// The cores that this process may use: its affinity, or the container's quota where that is less.
double allowed_cores();

// Of a measured window.
struct CpuUse {
  double used_cores = 0;
  double allowed_cores = 0;

  // Whether the figures may be loadgen's own limit: over nine tenths of what its threads can use.
  bool is_bottleneck(int threads) const;
};

}  // namespace loadgen
