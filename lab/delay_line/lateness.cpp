#include "lab/delay_line/lateness.h"

#include <algorithm>
#include <cmath>

namespace delay_line {
namespace {

constexpr double kFirstNs = 10'000;
constexpr double kFactor = 1.04;

}  // namespace

void Lateness::add(std::int64_t late_ns) {
  ++steps_[step_of(late_ns)];
  ++count_;
  max_ns_ = std::max(max_ns_, late_ns);
}

std::int64_t Lateness::at_share_ns(double share) const {
  const double wanted = share * static_cast<double>(count_);
  double seen = 0;
  for (std::size_t step = 0; step < kSteps && count_ > 0; ++step) {
    seen += static_cast<double>(steps_[step]);
    const double end_ns = kFirstNs * std::pow(kFactor, static_cast<double>(step));
    if (seen >= wanted) return std::min(max_ns_, static_cast<std::int64_t>(std::llround(end_ns)));
  }
  return max_ns_;
}

std::size_t Lateness::step_of(std::int64_t ns) {
  const double ratio = static_cast<double>(ns) / kFirstNs;
  if (ratio <= 1) return 0;
  const double step = std::ceil(std::log(ratio) / std::log(kFactor));
  return std::min(kSteps - 1, static_cast<std::size_t>(step));
}

}  // namespace delay_line
