#include "loadgen/clients/popularity.h"

#include <algorithm>
#include <cmath>

namespace loadgen {

namespace {

// (exp(x) - 1) / x and log(1 + x) / x, which are 1 at 0. So an exponent of 1 is no special case.
double expm1_over(double x) { return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2; }
double log1p_over(double x) { return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x / 2; }

}  // namespace

// Rejection-inversion (Hörmann and Derflinger 1996): a point is drawn under the curve
// x^-exponent, and rounded to the number k that it is nearest to. What the area around k has more
// than the weight of k is refused. `sure_distance_` spares most points the comparison.
Popularity::Popularity(std::int64_t count, double exponent)
    : count_(count),
      exponent_(exponent),
      first_area_(area_to(1.5) - 1),
      last_area_(area_to(static_cast<double>(count) + 0.5)),
      sure_distance_(2 - end_of_area(area_to(2.5) - weight(2))) {}

std::int64_t Popularity::draw(Draw& random) const {
  if (exponent_ == 0) return random.from_one_to(count_);
  for (;;) {
    const double area = last_area_ + random.uniform() * (first_area_ - last_area_);
    const double x = end_of_area(area);
    const auto number =
        std::clamp(static_cast<std::int64_t>(std::floor(x + 0.5)), std::int64_t{1}, count_);
    const auto k = static_cast<double>(number);
    if (k - x <= sure_distance_ || area >= area_to(k + 0.5) - weight(k)) return number;
  }
}

double Popularity::weight(double x) const { return std::exp(-exponent_ * std::log(x)); }

// The area under the curve from 1 to `x`, and the end of such an area.
double Popularity::area_to(double x) const {
  const double log_x = std::log(x);
  return expm1_over((1 - exponent_) * log_x) * log_x;
}

double Popularity::end_of_area(double area) const {
  return std::exp(log1p_over(std::max((1 - exponent_) * area, -1.0)) * area);
}

}  // namespace loadgen
