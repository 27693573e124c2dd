// When the threads of a closed loop start and end, if they do not do so together.
#pragma once

#include <cstdint>

#include "loadgen/config/config.h"

namespace loadgen {

// Whether the threads of a closed loop start or end one after the other.
bool is_ramp(const Config& config);

// Of a run that is_ramp(): its plan, in nanoseconds after the start of the window. If several
// testers share the load, it is that of the whole load, and threads have their number_in_load().
//
// Immutable once built.
class Ramp {
 public:
  explicit Ramp(const Config& config);

  // When a thread, counted from 0, begins with its first request, and when it begins no further
  // one.
  std::int64_t start_ns(int thread) const { return ramp_ns_ / threads_ * thread; }
  std::int64_t end_ns(int thread) const;

  // The plateau is the time in which all threads run: from the last start to the first end. It is
  // empty if the second is not after the first.
  std::int64_t plateau_start_ns() const { return start_ns(threads_ - 1); }
  std::int64_t plateau_end_ns() const { return end_ns(0); }

  // When the last thread begins no further request.
  std::int64_t last_end_ns() const { return end_ns(threads_ - 1); }

 private:
  const int threads_;
  const std::int64_t ramp_ns_;
  const std::int64_t life_ns_;    // of each thread
  const std::int64_t length_ns_;  // of the run, at most
};

}  // namespace loadgen
