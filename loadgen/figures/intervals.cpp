#include "loadgen/figures/intervals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace loadgen {

namespace {

constexpr std::size_t kRunParts = 10;
constexpr double kStudentT95 = 2.262;   // of kRunParts - 1 degrees of freedom
constexpr double kEndOfWindowS = 0.05;  // by which a run of whole seconds may seem to be shorter

struct RunParts {
  std::array<double, kRunParts> rates{};     // requests in a second
  std::array<double, kRunParts> means_ms{};  // of their response times
};

// The seconds in front that do not fill a part are left out: a run begins with connections.
std::optional<RunParts> parts_of(const Summary& summary) {
  const auto whole = static_cast<std::size_t>(std::max(0.0, summary.elapsed_s + kEndOfWindowS));
  const std::size_t seconds = std::min(whole, summary.per_second.size());
  if (seconds < kLeastIntervalS) return {};
  const std::size_t each = seconds / kRunParts;
  const auto counted = std::span(summary.per_second).first(seconds).last(each * kRunParts);
  RunParts parts;
  for (std::size_t part = 0; part < kRunParts; ++part) {
    double requests = 0;
    double sum_ms = 0;
    for (const SecondSummary& second : counted.subspan(part * each, each)) {
      requests += static_cast<double>(second.requests);
      sum_ms += second.mean_ms * static_cast<double>(second.requests);
    }
    if (requests <= 0) return {};
    parts.rates[part] = requests / static_cast<double>(each);
    parts.means_ms[part] = sum_ms / requests;
  }
  return parts;
}

double variance_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size() - 1);
}

Interval around(double middle, std::span<const double> of_parts) {
  const double half = kStudentT95 * std::sqrt(variance_of(of_parts) / kRunParts);
  return {std::max(0.0, middle - half), middle + half};
}

double variance_of(const Distribution& times, double mean_ms, double requests) {
  double squares = 0;
  for (const auto& [time_ms, count] : times)
    squares += static_cast<double>(count) * (time_ms - mean_ms) * (time_ms - mean_ms);
  return squares / requests;
}

// The time that so large a part of the requests does not exceed.
double time_at(const Distribution& times, double share, double requests) {
  double seen = 0;
  for (const auto& [time_ms, count] : times) {
    seen += static_cast<double>(count);
    if (seen >= share * requests) return time_ms;
  }
  return times.empty() ? 0 : times.back().first;
}

// Between the ranks that the percentile may have. Nothing where one of them is beyond all requests.
std::optional<Interval> of_percentile(const Distribution& times, double share, double independent,
                                      double requests) {
  const double half = kStudentT95 * std::sqrt(share * (1 - share) / independent);
  if (share - half <= 0 || share + half >= 1 - 1 / independent) return {};
  return Interval{time_at(times, share - half, requests), time_at(times, share + half, requests)};
}

}  // namespace

std::optional<Intervals> intervals_of(const Summary& summary) {
  const auto parts = parts_of(summary);
  if (!parts || summary.plateau || summary.burst || summary.crowd) return {};
  const Distribution& times = summary.distribution;
  const auto requests = static_cast<double>(summary.requests);
  const double mean_ms = summary.response.mean_ms;
  const double by_chance = variance_of(times, mean_ms, requests) / (requests / kRunParts);
  const double alike = by_chance > 0 ? variance_of(parts->means_ms) / by_chance : 1;
  const double independent = requests / std::max(1.0, alike);
  return Intervals{.throughput_rps = around(summary.throughput_rps, parts->rates),
                   .mean_ms = around(mean_ms, parts->means_ms),
                   .p50_ms = of_percentile(times, 0.50, independent, requests),
                   .p90_ms = of_percentile(times, 0.90, independent, requests),
                   .p99_ms = of_percentile(times, 0.99, independent, requests)};
}

}  // namespace loadgen
