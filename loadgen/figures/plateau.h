// What is measured of a ramp only: the time in which all threads run.
#pragma once

#include <cstdint>

#include "loadgen/figures/exchange.h"
#include "loadgen/figures/histogram.h"
#include "loadgen/figures/think.h"

namespace loadgen {

// Written by one thread. Read by others after it was joined.
struct PlateauTally {
  std::uint64_t threads_started = 0;

  // Of requests that succeeded: the response times of those that ended in the plateau, and the part
  // of their time that lies in it, whenever they ended.
  Histogram response_ns;
  std::uint64_t busy_ns = 0;

  // The part of the pauses of --think that lies in it.
  std::uint64_t paused_ns = 0;

  // Add a request or a pause. The plateau is [start_ns, end_ns), in times of base::now_ns().
  void add(const Exchange& exchange, std::int64_t start_ns, std::int64_t end_ns);
  void add(const Pause& pause, std::int64_t start_ns, std::int64_t end_ns);

  void add(const PlateauTally& other);
};

// When it was. Only the main thread knows it.
struct PlateauTime {
  std::int64_t start_ns = 0;    // after the start of the window
  std::int64_t elapsed_ns = 0;  // 0: there was none
};

}  // namespace loadgen
