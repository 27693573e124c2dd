#include "loadgen/loops/schedule.h"

#include <cmath>

#include "base/clock.h"

namespace loadgen {

Schedule::Schedule(double rate_rps, ArrivalKind arrivals, std::uint64_t seed)
    : gap_ns_(static_cast<double>(base::kNsPerS) / rate_rps),
      arrivals_(arrivals),
      generator_(seed) {}

// A fixed time is a product, not a sum, so rounding errors do not add up. A sum of drawn gaps needs
// no more than the precision of a double: after a day of them it is still exact to 0.02 ns.
//
// std::exponential_distribution is not used because each library may draw other numbers.
Schedule::Turn Schedule::take_next() {
  const base::Lock lock(mutex_);
  const std::int64_t number = taken_++;
  if (arrivals_ == ArrivalKind::kFixed)
    return {number, std::llround(static_cast<double>(number) * gap_ns_)};
  constexpr double kTo53Bits = 0x1p-53;
  const double uniform = static_cast<double>(generator_() >> 11) * kTo53Bits;  // in [0, 1)
  sum_ns_ -= std::log1p(-uniform) * gap_ns_;
  return {number, std::llround(sum_ns_)};
}

}  // namespace loadgen
