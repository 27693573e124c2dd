#include <fmt/core.h>

#include "base/units.h"
#include "loadgen/figures/format.h"
#include "loadgen/figures/table.h"
#include "loadgen/figures/units.h"

namespace loadgen::crowd {

namespace {

double since_start_s(const DropOut& one) { return seconds_of(static_cast<double>(one.at_ns)); }

std::string size(std::uint64_t bytes) { return base::human_bytes(static_cast<double>(bytes)); }

std::string title(const Config& config, const Figures& figures, const loadgen::Summary& summary) {
  return fmt::format("get from {}: {} users at {:g} B/s each, {}, {}, {}, {:.1f} s (end: {})\n",
                     net::to_string(config.server), config.users, config.crowd.pace_bytes_s,
                     word_of(config.protocol), word_of(config.crowd.engine),
                     counted(static_cast<std::uint64_t>(config.threads), "thread"),
                     summary.elapsed_s, word_of(figures.end));
}

std::string users_text(const Tally& tally, const Summary& summary) {
  const Standing& now = summary.outcome.standing;
  std::string text = fmt::format("{} started, {} hold, ", now.started, now.held());
  if (now.without_fetch > 0) text += fmt::format("{} without a whole file, ", now.without_fetch);
  text += fmt::format("{} dropped out", now.started - now.left);
  if (tally.drop_outs.empty()) return text;
  return text + fmt::format(", {}; {} in their first fetch; from {:.1f} s to {:.1f} s",
                            causes_text(summary), summary.drop_outs_in_first_fetch,
                            since_start_s(tally.drop_outs.front()),
                            since_start_s(tally.drop_outs.back()));
}

std::string rates_text(const RateErrors& errors) {
  if (errors.users == 0) return "-";
  return fmt::format("worst {:.2f}%, p50 {:.2f}%; {:.2f}% of {} users within 5%",
                     100 * errors.worst, 100 * errors.p50, 100 * errors.share_within_5_percent,
                     errors.users);
}

std::string wakeups_text(const Tally& tally, const Summary& summary) {
  return fmt::format(
      "{}, {:.2f} for each of {} useful reads; {} empty reads; at most {:.0f} ms late",
      tally.wakeups, summary.wakeups_per_useful_read, tally.useful_reads, tally.empty_reads,
      ms_of(static_cast<double>(tally.most_late_ns)));
}

std::string pacing_text(const Tally& tally, const Summary& summary) {
  return fmt::format(
      "{}: file {}, buffers up to {} (receive buffer {}); {:.0f} bytes waited on average, {} at "
      "most",
      summary.pacing.name, size(tally.file_bytes), size(summary.pacing.buffers_bytes),
      size(tally.receive_buffer_bytes), summary.waiting_bytes_mean, tally.waiting.most);
}

std::string cpu_text(const CpuSamples& cpu) {
  return fmt::format("{:.3f} cores (least {:.3f}, most {:.3f}) of {:g}", cpu.mean_cores,
                     cpu.least_cores, cpu.most_cores, cpu.allowed_cores);
}

}  // namespace

std::string table_of(const Config& config, const Figures& figures,
                     const loadgen::Summary& summary) {
  const Tally& tally = *figures.tally.crowd;
  const Summary& crowd = *summary.crowd;
  std::string table = title(config, figures, summary) + row("users", users_text(tally, crowd));
  for (const auto& [cause, why] : crowd.first_reasons)
    table += row("", fmt::format("first {}: {}", cause, why));
  table += row("fetches", fmt::format("{}, {}", summary.requests, size(summary.bytes)));
  table += row("rate error", rates_text(crowd.rates));
  table += row("wake-ups", wakeups_text(tally, crowd));
  if (config.crowd.engine == EngineKind::kSigio)
    table += row("overflows", fmt::format("{} of the signal queue", tally.overflows));
  table += row("pacing", pacing_text(tally, crowd));
  if (figures.count_check) table += row("telemetry", loadgen::text_of(*figures.count_check));
  table += row("check", verdict_text(summary));
  for (const std::string& reason : summary.invalid_because) table += row("", reason);
  return table + row("loadgen CPU", cpu_text(crowd.outcome.cpu));
}

}  // namespace loadgen::crowd
