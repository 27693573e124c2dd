#include "loadgen/clients/think.h"

#include <cmath>

#include "base/clock.h"
#include "loadgen/clients/draw.h"

namespace loadgen {

Think::Think(const ThinkTime& time, int seed, int users)
    : kind_(time.kind),
      mean_ns_(time.mean_s * static_cast<double>(base::kNsPerS)),
      seed_(seed),
      users_(users) {}

std::int64_t Think::next_ns(int user, std::int64_t number) const {
  if (kind_ != ThinkKind::kExponential) return std::llround(mean_ns_);
  Draw draw(seed_, user, number, Drawn::kPause);
  return std::llround(-std::log1p(-draw.uniform()) * mean_ns_);
}

std::int64_t Think::first_ns(int user, std::int64_t number) const {
  if (kind_ != ThinkKind::kFixed) return next_ns(user, number);
  return std::llround(mean_ns_ * (user + 1) / users_);
}

}  // namespace loadgen
