#include "loadgen/figures/under_way.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "loadgen/figures/units.h"

namespace loadgen {

namespace {

constexpr std::uint64_t kLeastSamples = 50;
constexpr double kMostDifference = 0.1;  // of the threads

// With pauses, few of the threads have a request under way, and how many is a matter of chance: as
// many as heads of so many coins. The mean of the samples may then miss by so much.
double most_difference(const UnderWaySummary& under_way, int threads) {
  constexpr double kStandardErrors = 4;
  const double of_each = std::clamp(under_way.expected / threads, 0.0, 1.0);
  const double chance =
      std::sqrt(threads * of_each * (1 - of_each) / static_cast<double>(under_way.samples));
  return std::min(kMostDifference * threads,
                  kMostDifference * under_way.expected + kStandardErrors * chance);
}

}  // namespace

std::optional<UnderWaySummary> summarize(const UnderWay& seen, const Tally& tally) {
  if (seen.samples == 0 || tally.elapsed_ns <= 0) return {};
  if (tally.open && tally.failed_ns > 0) return {};
  const Histogram& times_ns = tally.open ? tally.open->service_ns : tally.response_ns;
  const auto all_ns = static_cast<double>(times_ns.sum() + tally.failed_ns);
  return UnderWaySummary{
      .samples = seen.samples,
      .mean = ratio(static_cast<double>(seen.sum), static_cast<double>(seen.samples)),
      .expected = all_ns / static_cast<double>(tally.elapsed_ns)};
}

std::optional<std::string> fault_of(const UnderWaySummary& under_way, int threads) {
  const double difference = std::abs(under_way.mean - under_way.expected);
  if (under_way.samples < kLeastSamples || difference <= most_difference(under_way, threads))
    return {};
  return fmt::format("{}: loadgen has not counted every request once", text_of(under_way));
}

std::string text_of(const UnderWaySummary& under_way) {
  return fmt::format("{:.2f} requests on average in {} samples; X*R is {:.2f}", under_way.mean,
                     under_way.samples, under_way.expected);
}

}  // namespace loadgen
