#include "loadgen/config/ramp.h"

#include <algorithm>

#include "base/clock.h"

namespace loadgen {

namespace {

constexpr std::int64_t kNoEnd = INT64_MAX;

std::int64_t ramp_ms(const Config& config) {
  return config.crowd.has_ramp ? config.crowd.ramp_ms : 0;
}

}  // namespace

bool is_ramp(const Config& config) {
  return kind_of(config) == RunKind::kClosed && (config.life_ms > 0 || ramp_ms(config) > 0);
}

// With a life, the run needs no other end.
Ramp::Ramp(const Config& config)
    : threads_(clients_of_load(config)),
      ramp_ns_(ramp_ms(config) * base::kNsPerMs),
      life_ns_(config.life_ms > 0 ? config.life_ms * base::kNsPerMs : kNoEnd),
      length_ns_(config.life_ms > 0 && !config.has_seconds ? kNoEnd
                                                           : config.seconds_ms * base::kNsPerMs) {}

std::int64_t Ramp::end_ns(int thread) const {
  if (life_ns_ == kNoEnd) return length_ns_;
  return std::min(length_ns_, start_ns(thread) + life_ns_);
}

}  // namespace loadgen
