#include "loadgen/figures/own_faults.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "loadgen/figures/units.h"

namespace loadgen {

namespace {

// The same percentile of the lateness and of the response times, which have the lateness in them.
struct Late {
  unsigned per_mille;
  double lateness_ms;
  double response_ms;

  bool is_fault() const {
    return lateness_ms > kMostLatenessMs && lateness_ms > kMostLatenessShare * response_ms;
  }
};

std::optional<Late> lateness_of(const Tally& tally) {
  if (!tally.open) return {};
  const Histogram& lateness_ns = tally.open->lateness_ns;
  for (const unsigned per_mille : {990u, 900u}) {
    if (!lateness_ns.knows(per_mille)) continue;
    return Late{per_mille, ms_of(static_cast<double>(lateness_ns.value_at(per_mille))),
                ms_of(static_cast<double>(tally.response_ns.value_at(per_mille)))};
  }
  return {};
}

std::optional<std::string> late(const Tally& tally) {
  if (!is_late(tally)) return {};
  const Late late = *lateness_of(tally);
  const unsigned percentile = late.per_mille / 10;
  return fmt::format(
      "the load generator itself was late: p{} of its lateness is {:.3f} ms, which is over {:g} ms "
      "and over {:g}% of p{} of the response times",
      percentile, late.lateness_ms, kMostLatenessMs, kMostLatenessShare * 100, percentile);
}

std::optional<std::string> stood_still(const Figures& figures, const Summary& summary) {
  const Stalls& stalls = figures.stalls;
  if (stalls.count == 0) return {};
  const double share =
      ratio(static_cast<double>(stalls.total_ns), static_cast<double>(figures.tally.elapsed_ns));
  const double longest_ms = ms_of(static_cast<double>(stalls.longest_ns));
  const bool is_long = longest_ms > kLongestStallShare * summary.response.p50_ms;
  if (share <= kMostStalledShare && !is_long) return {};
  return fmt::format("loadgen itself stood still for {:.1f} s (stopped, or without a core)",
                     seconds_of(static_cast<double>(stalls.total_ns)));
}

std::optional<std::string> starved(const Summary& summary) {
  const double share = summary.starvation;
  if (!summary.has_n_check() || !summary.is_long_enough()) return {};
  if (share <= kMostStarvation) return {};
  return fmt::format(
      "loadgen's threads waited for a core for {:.3f} ms of each request, {:.0f}% of its time; use "
      "fewer threads, or give loadgen cores of its own (taskset)",
      share * summary.last_byte_ms(), share * 100);
}

}  // namespace

double overslept_ms(const Tally& tally) {
  if (!tally.think) return 0;
  return ms_of(ratio(tally.think->overslept_ns, tally.succeeded() + tally.errors_total()));
}

bool is_late(const Tally& tally) {
  const auto late = lateness_of(tally);
  return late && late->is_fault();
}

double starvation_of(const Figures& figures, const Summary& summary) {
  if (!summary.has_n_check()) return figures.cpu.run_delay_share;
  const double within_ms = figures.cpu.run_delay_ms_per_request - overslept_ms(figures.tally);
  return ratio(std::max(0.0, within_ms), summary.last_byte_ms());
}

std::vector<std::string> own_faults_of(const Figures& figures, const Summary& summary) {
  if (figures.hopeless) return {};  // whoever was late, no request could succeed
  std::vector<std::string> faults;
  for (auto fault : {stood_still(figures, summary), starved(summary), late(figures.tally)}) {
    if (fault) faults.push_back(std::move(*fault));
  }
  return faults;
}

}  // namespace loadgen
