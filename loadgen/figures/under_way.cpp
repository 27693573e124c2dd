#include "loadgen/figures/under_way.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace loadgen {

namespace {

constexpr std::uint64_t kLeastSamples = 50;
constexpr double kMostDifference = 0.1;  // of X*R, or of the threads if they are fewer

// Without pauses, each thread has a request under way. With pauses, how many have one is a matter
// of chance. The standard error is at least that of threads which do not depend on each other.
// Where all of them wait for one slow moment of the server, the samples scatter more.
double most_difference(const UnderWaySummary& under_way, int threads) {
  constexpr double kStandardErrors = 4;
  const double of_each = std::clamp(under_way.expected / threads, 0.0, 1.0);
  const double variance = std::max(threads * of_each * (1 - of_each), under_way.variance);
  const double error = std::sqrt(variance / static_cast<double>(under_way.samples));
  return kMostDifference * std::min<double>(threads, under_way.expected) + kStandardErrors * error;
}

}  // namespace

void Silence::look(std::int64_t now_ns, std::uint64_t ended) {
  if (since_ns_ == 0 || ended != ended_) since_ns_ = now_ns;
  ended_ = ended;
  longest_ns_ = std::max(longest_ns_, now_ns - since_ns_);
}

std::optional<std::int64_t> Silence::longest_ns() const {
  return since_ns_ == 0 ? std::nullopt : std::optional(longest_ns_);
}

std::optional<UnderWaySummary> summarize(const UnderWay& seen, const Tally& tally) {
  if (seen.samples == 0 || tally.elapsed_ns <= 0) return {};
  if (tally.open && tally.failed_ns > 0) return {};
  const Histogram& times_ns = tally.open ? tally.open->service_ns : tally.response_ns;
  const auto all_ns = static_cast<double>(times_ns.sum() + tally.failed_ns);
  const auto samples = static_cast<double>(seen.samples);
  const double mean = static_cast<double>(seen.sum) / samples;
  const double square = static_cast<double>(seen.sum_of_squares) / samples;
  return UnderWaySummary{.samples = seen.samples,
                         .mean = mean,
                         .variance = std::max(0.0, square - mean * mean),
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
