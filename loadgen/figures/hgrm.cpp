#include "loadgen/figures/hgrm.h"

#include <fmt/core.h>

#include <cmath>

#include "loadgen/figures/units.h"

namespace loadgen {

namespace {

constexpr int kLevelsPerHalf = 5;

std::string footer(const Histogram& histogram) {
  return fmt::format(
      "#[Mean    = {:12.3f}, StdDeviation   = {:12.3f}]\n"
      "#[Max     = {:12.3f}, Total count    = {:12}]\n"
      "#[Buckets = {:12}, SubBuckets     = {:12}]\n",
      ms_of(histogram.mean()), ms_of(histogram.standard_deviation()),
      ms_of(static_cast<double>(histogram.max())), histogram.count(), Histogram::octaves(),
      Histogram::buckets_per_octave());
}

// The share of the values that the line after the one for `share` is for.
double next_level(double share) {
  const double halves = std::floor(std::log2(1 / (1 - share))) + 1;
  return share + 1 / (kLevelsPerHalf * std::exp2(halves));
}

}  // namespace

// The last line has no fourth column, because 1/(1-1) is no number.
std::string hgrm_of(const Histogram& histogram) {
  std::string text = fmt::format("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile",
                                 "TotalCount", "1/(1-Percentile)");
  const std::uint64_t total = histogram.count();
  std::uint64_t passed = 0;
  double upper_ms = 0;
  double level = 0;
  for (const Bucket& bucket : histogram.buckets()) {
    passed += bucket.count;
    upper_ms = ms_of(static_cast<double>(bucket.upper));
    while (level < 1 && ratio(passed, total) >= level) {
      text += fmt::format("{:12.3f} {:2.12f} {:10} {:14.2f}\n", upper_ms, level, passed,
                          1 / (1 - level));
      level = next_level(level);
      if (passed == total) break;
    }
  }
  if (total > 0) text += fmt::format("{:12.3f} {:2.12f} {:10}\n", upper_ms, 1.0, total);
  return text + footer(histogram);
}

}  // namespace loadgen
