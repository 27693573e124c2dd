#include "loadgen/figures/burst.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/units.h"
#include "loadgen/figures/format.h"
#include "loadgen/figures/units.h"

namespace loadgen::burst {

namespace {

// Below it, the transfers mostly took place one after the other.
constexpr double kLeastSimultaneity = 0.5;

// From the first to the last of several moments.
class Extent {
 public:
  void add(std::int64_t moment_ns) {
    first_ns_ = std::min(first_ns_, moment_ns);
    last_ns_ = std::max(last_ns_, moment_ns);
  }
  std::int64_t ns() const { return std::max<std::int64_t>(0, last_ns_ - first_ns_); }

 private:
  std::int64_t first_ns_ = INT64_MAX;
  std::int64_t last_ns_ = 0;
};

SumsSummary summary_of(const Sums& sums) {
  return {.transfers = sums.transfers,
          .failed = sums.failed,
          .bytes = sums.bytes,
          .span_s = seconds_of(sums.span_ns),
          .rate_bytes_s = ratio(static_cast<double>(sums.bytes), seconds_of(sums.span_ns)),
          .simultaneity = ratio(sums.transfer_ns, sums.capacity_ns),
          .release_spread_ms = ms_of(static_cast<double>(sums.release_spread_ns)),
          .first_byte_ms = ms_of(ratio(sums.first_byte_ns, static_cast<double>(sums.transfers)))};
}

}  // namespace

Transfer transfer_of(const Exchange& exchange) {
  return {.asked_ns = exchange.asked_ns,
          .first_byte_ns = exchange.first_byte_ns,
          .file_end_ns = exchange.file_end_ns,
          .bytes = exchange.moved_bytes,
          .has_failed = exchange.failure.has_value()};
}

void Sums::add(const Sums& other) {
  transfers += other.transfers;
  failed += other.failed;
  bytes += other.bytes;
  span_ns += other.span_ns;
  transfer_ns += other.transfer_ns;
  capacity_ns += other.capacity_ns;
  first_byte_ns += other.first_byte_ns;
  release_spread_ns = std::max(release_spread_ns, other.release_spread_ns);
}

Sums sums_of(std::span<const Transfer> round) {
  Sums sums;
  Extent asked;
  Extent moved;
  for (const Transfer& transfer : round) {
    if (transfer.asked_ns != 0) asked.add(transfer.asked_ns);
    if (transfer.has_failed) {
      ++sums.failed;
      continue;
    }
    ++sums.transfers;
    sums.bytes += transfer.bytes;
    sums.transfer_ns += static_cast<double>(transfer.file_end_ns - transfer.asked_ns);
    sums.first_byte_ns += static_cast<double>(transfer.first_byte_ns - transfer.asked_ns);
    moved.add(transfer.asked_ns);
    moved.add(transfer.file_end_ns);
  }
  sums.span_ns = static_cast<double>(moved.ns());
  sums.capacity_ns = static_cast<double>(sums.transfers) * sums.span_ns;
  sums.release_spread_ns = asked.ns();
  return sums;
}

Summary summarize(const std::vector<Sums>& rounds) {
  Summary summary;
  Sums all;
  for (const Sums& round : rounds) {
    all.add(round);
    summary.rounds.push_back(summary_of(round));
  }
  summary.all = summary_of(all);
  return summary;
}

std::string text_of(const Summary& summary) {
  const SumsSummary& all = summary.all;
  return fmt::format(
      "{}, {}/s from the first request to the last byte; simultaneity {:.3f}, released "
      "within {:.3f} ms, first byte {:.3f} ms later",
      counted(summary.rounds.size(), "round"), base::human_bytes(all.rate_bytes_s),
      all.simultaneity, all.release_spread_ms, all.first_byte_ms);
}

std::string warning_of(const Summary& summary) {
  const double simultaneity = summary.all.simultaneity;
  if (summary.all.transfers == 0 || simultaneity >= kLeastSimultaneity) return {};
  return fmt::format(
      "warning: the transfers overlapped little (simultaneity {:.3f}); use larger files, or a "
      "slower server or link\n",
      simultaneity);
}

}  // namespace loadgen::burst
