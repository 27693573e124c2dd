#include "loadgen/figures/crowd.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/host.h"
#include "loadgen/figures/units.h"

namespace loadgen::crowd {

namespace {

// The largest send buffer that this system gives a connection.
std::uint64_t most_send_buffer_bytes() {
  const auto sizes = base::numbers_in("/proc/sys/net/ipv4/tcp_wmem");
  return sizes.size() == 3 ? static_cast<std::uint64_t>(sizes[2]) : std::uint64_t{4} << 20;
}

// The entry of `key`, which is made at the end if there is none.
template <typename Value>
Value& entry_of(std::vector<std::pair<std::string, Value>>& entries, std::string_view key) {
  const auto known = std::find_if(entries.begin(), entries.end(),
                                  [key](const auto& entry) { return entry.first == key; });
  return known != entries.end() ? known->second : entries.emplace_back(key, Value()).second;
}

std::string narrowness_text(const Tally& tally) {
  return fmt::format(
      "a fetch may take only {:.1f} ms longer than at the pace, so loadgen's own clock would "
      "decide "
      "who is too slow; lower --least-rate or --pace, or ask for a larger file, so that it is {:g} "
      "ms",
      ms_of(static_cast<double>(tally.least_slack_ns)), ms_of(kLeastSlackNs));
}

std::string lateness_text(const Tally& tally) {
  return fmt::format(
      "loadgen itself was late, by up to {:.0f} ms, which is over {:g}% of the {:.0f} ms that a "
      "fetch may take longer than at the pace; use fewer users, or give loadgen cores of its own",
      ms_of(static_cast<double>(tally.most_late_ns)), 100 * kMostLateShare,
      ms_of(static_cast<double>(tally.least_slack_ns)));
}

}  // namespace

void Tally::add(const Tally& other) {
  drop_outs.insert(drop_outs.end(), other.drop_outs.begin(), other.drop_outs.end());
  rate_errors.insert(rate_errors.end(), other.rate_errors.begin(), other.rate_errors.end());
  file_bytes = std::max(file_bytes, other.file_bytes);
  receive_buffer_bytes = std::max(receive_buffer_bytes, other.receive_buffer_bytes);
  wakeups += other.wakeups;
  useful_reads += other.useful_reads;
  empty_reads += other.empty_reads;
  overflows += other.overflows;
  most_late_ns = std::max(most_late_ns, other.most_late_ns);
  broken_off += other.broken_off;
  late_drops += other.late_drops;
  least_slack_ns = std::min(least_slack_ns, other.least_slack_ns);
  waiting.samples += other.waiting.samples;
  waiting.sum += other.waiting.sum;
  waiting.most = std::max(waiting.most, other.waiting.most);
}

void Standing::add(const Standing& other) {
  started += other.started;
  left += other.left;
  without_fetch += other.without_fetch;
}

RateErrors rate_errors_of(std::vector<double> errors) {
  if (errors.empty()) return {};
  std::sort(errors.begin(), errors.end());
  const auto within = std::upper_bound(errors.begin(), errors.end(), 0.05) - errors.begin();
  return {
      .users = errors.size(),
      .worst = errors.back(),
      .p50 = errors[(errors.size() - 1) / 2],
      .share_within_5_percent = static_cast<double>(within) / static_cast<double>(errors.size())};
}

Pacing pacing_of(const Tally& tally, std::uint64_t send_buffer_bytes) {
  const std::uint64_t buffers = tally.receive_buffer_bytes + send_buffer_bytes;
  return {tally.file_bytes > buffers ? "paced transfer" : "paced reading", buffers};
}

Summary summarize(const Tally& tally, const Outcome& outcome) {
  Summary summary{.outcome = outcome,
                  .rates = rate_errors_of(tally.rate_errors),
                  .pacing = pacing_of(tally, most_send_buffer_bytes()),
                  .wakeups_per_useful_read = ratio(tally.wakeups, tally.useful_reads),
                  .waiting_bytes_mean = ratio(tally.waiting.sum, tally.waiting.samples)};
  for (const DropOut& one : tally.drop_outs) {
    if (one.was_in_first_fetch) ++summary.drop_outs_in_first_fetch;
    ++entry_of(summary.causes, one.cause.word());
    if (one.why.empty()) continue;
    std::string& reason = entry_of(summary.first_reasons, one.cause.word());
    if (reason.empty()) reason = one.why;
  }
  return summary;
}

std::vector<std::string> faults_of(const Tally& tally, const Outcome& outcome,
                                   std::uint64_t fetches) {
  if (tally.is_too_narrow()) return {narrowness_text(tally)};
  std::vector<std::string> faults;
  const Standing& now = outcome.standing;
  if (now.started < outcome.asked)
    faults.push_back(fmt::format("only {} of {} users were started", now.started, outcome.asked));
  if (fetches == 0) {
    faults.emplace_back("nobody ever got a whole file");
  } else if (now.left > 0 && now.held() == 0) {
    faults.emplace_back("no user that is left has got a whole file");
  }
  if (fetches > 0 && is_too_late(tally.most_late_ns, tally.least_slack_ns))
    faults.push_back(lateness_text(tally));
  if (tally.late_drops > 0) {
    faults.push_back(
        fmt::format("when loadgen itself was late, users dropped out: {}", tally.late_drops));
  }
  return faults;
}

std::string causes_text(const Summary& summary) {
  std::string text;
  for (const auto& [cause, count] : summary.causes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", cause, count);
  return text;
}

}  // namespace loadgen::crowd
