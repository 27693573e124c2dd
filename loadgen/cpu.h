// The CPU time that loadgen itself uses, and for how long it had to wait for a core.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace loadgen {

// Returns the CPU time in seconds, user and system, that all threads of this process have used
// since it started.
double process_cpu_s();

// Returns for how many seconds the threads of this process were ready to run and had no core, each
// since it started: the sum over the threads that exist, without those that only watch the others,
// which are the main one and `watch`. 0 if the kernel does not count it.
double threads_run_delay_s(pid_t watch);

// What all threads have used at a moment, each since it started. `watch`: see
// threads_run_delay_s().
struct CpuTime {
  std::int64_t read_ns = 0;
  double used_s = 0;
  double delay_s = 0;
};
CpuTime cpu_time(pid_t watch);

// The average over the measured window.
struct CpuUse {
  double used_cores = 0;
  double allowed_cores = 0;

  // The CPU time for one request of the window, failed ones included, in microseconds.
  double us_per_request = 0;

  // The part of the threads' time in which they were ready to run and had no core, from 0 to 1.
  double run_delay_share = 0;

  // For how long threads were ready to run and had no core, for one request, counted as above.
  double run_delay_ms_per_request = 0;

  // Whether loadgen uses over 90% of the cores that `threads` threads can use. Then the figures may
  // show the limit of loadgen instead of the server's.
  bool is_bottleneck(int threads) const;
};

// The use between two moments, which are about the begin and the end of a window of `elapsed_s`
// with so many requests.
CpuUse cpu_use(const CpuTime& before, const CpuTime& after, double elapsed_s,
               std::uint64_t requests, int threads);

}  // namespace loadgen
