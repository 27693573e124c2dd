// The moments at which the requests of an open loop are due.
#pragma once

#include <cstdint>
#include <random>

#include "base/mutex.h"
#include "loadgen/config/config.h"

namespace loadgen {

// Requests become due at a given rate, whatever became of those before. The moments are computed
// one after the other, so an endless schedule takes no memory. The same seed gives the same moments
// with every compiler and on every machine.
class Schedule {
 public:
  // The turn of one request.
  struct Turn {
    std::int64_t number = 0;  // counts from 0
    std::int64_t due_ns = 0;  // after the start of the schedule
  };

  // Requires: rate > 0. `arrivals`: kFixed: the gaps are all equal. kPoisson: they are drawn from
  // the exponential distribution, as those of many users who do not know of each other.
  Schedule(double rate_rps, ArrivalKind arrivals, std::uint64_t seed);

  // Any thread. Each turn is given to one caller, in ascending order of the times.
  Turn take_next() EXCLUDES(mutex_);

 private:
  const double gap_ns_;  // on average
  const ArrivalKind arrivals_;

  base::Mutex mutex_;
  std::int64_t taken_ GUARDED_BY(mutex_) = 0;
  double sum_ns_ GUARDED_BY(mutex_) = 0;  // of the drawn gaps
  std::mt19937_64 generator_ GUARDED_BY(mutex_);
};

}  // namespace loadgen
