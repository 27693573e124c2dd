#include "loadgen/loops/crowd/lateness.h"

#include <algorithm>

namespace loadgen::crowd {

namespace {

constexpr std::int64_t kLeastLateNs = 2'000'000;  // two ticks
constexpr std::size_t kMostStalls = 100;

}  // namespace

void Lateness::note(std::int64_t now_ns, std::int64_t late_ns) {
  if (late_ns < kLeastLateNs) return;
  while (!stalls_.empty() && stalls_.back().late_ns <= late_ns) stalls_.pop_back();
  stalls_.push_back({now_ns, late_ns});
  if (stalls_.size() > kMostStalls) stalls_.pop_front();
}

std::int64_t Lateness::most_since_ns(std::int64_t moment_ns) const {
  const auto found = std::ranges::find_if(
      stalls_, [moment_ns](const Late& stall) { return stall.at_ns >= moment_ns; });
  return found == stalls_.end() ? 0 : found->late_ns;
}

}  // namespace loadgen::crowd
