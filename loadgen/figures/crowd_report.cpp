#include "loadgen/figures/crowd_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "loadgen/figures/format.h"
#include "loadgen/figures/units.h"

namespace loadgen::crowd {

namespace {

using Json = nlohmann::ordered_json;

// The drop-outs that are listed one by one. Thousands of times would say no more.
constexpr std::size_t kMostListed = 1000;

double since_start_s(const DropOut& one) { return seconds_of(static_cast<double>(one.at_ns)); }

std::string size(std::uint64_t bytes) { return base::human_bytes(static_cast<double>(bytes)); }

Json users_json(const Config& config, const Standing& now) {
  return {{"asked", config.users},
          {"started", now.started},
          {"held", now.held()},
          {"without_fetch", now.without_fetch},
          {"dropped", now.started - now.left}};
}

Json drop_outs_json(const Tally& tally, const Summary& summary) {
  Json causes = Json::object();
  for (const auto& [cause, count] : summary.causes) causes[cause] = count;
  Json reasons = Json::object();
  for (const auto& [cause, why] : summary.first_reasons) reasons[cause] = why;
  Json times = Json::array();
  for (std::size_t at = 0; at < std::min(kMostListed, tally.drop_outs.size()); ++at) {
    const DropOut& one = tally.drop_outs[at];
    times.push_back({{"t_s", rounded(since_start_s(one))},
                     {"cause", one.cause.word()},
                     {"in_first_fetch", one.was_in_first_fetch}});
  }
  return {{"in_first_fetch", summary.drop_outs_in_first_fetch},
          {"while_late", tally.late_drops},
          {"causes", causes},
          {"first_reasons", reasons},
          {"times", times}};
}

Json rates_json(const RateErrors& errors) {
  const auto of_users = [&](double value) {
    return errors.users > 0 ? Json(rounded(value)) : Json();
  };
  return {{"users", errors.users},
          {"worst", of_users(errors.worst)},
          {"p50", of_users(errors.p50)},
          {"share_within_5_percent", of_users(errors.share_within_5_percent)}};
}

Json wakeups_json(const Tally& tally, const Summary& summary) {
  return {{"wakeups", tally.wakeups},
          {"useful_reads", tally.useful_reads},
          {"empty_reads", tally.empty_reads},
          {"most_late_ms", rounded(ms_of(static_cast<double>(tally.most_late_ns)))},
          {"per_useful_read", rounded(summary.wakeups_per_useful_read)},
          {"signal_overflows", tally.overflows}};
}

Json pacing_json(const Tally& tally, const Summary& summary) {
  return {{"name", summary.pacing.name},
          {"file_bytes", tally.file_bytes},
          {"receive_buffer_bytes", tally.receive_buffer_bytes},
          {"buffers_bytes", summary.pacing.buffers_bytes},
          {"waiting_bytes_mean", rounded(summary.waiting_bytes_mean)},
          {"waiting_bytes_max", tally.waiting.most},
          {"waiting_samples", tally.waiting.samples}};
}

Json cpu_json(const CpuSamples& cpu) {
  return {{"least_cores", rounded(cpu.least_cores)},
          {"used_cores", rounded(cpu.mean_cores)},
          {"most_cores", rounded(cpu.most_cores)},
          {"allowed_cores", rounded(cpu.allowed_cores)}};
}

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

void add_to(Json& json, const Config& config, const Figures& figures,
            const loadgen::Summary& summary) {
  const Tally& tally = *figures.tally.crowd;
  const Summary& crowd = *summary.crowd;
  const Outcome& outcome = crowd.outcome;
  json.update(Json{{"engine", word_of(config.crowd.engine)},
                   {"threads", config.threads},
                   {"pace_bytes_s", config.crowd.pace_bytes_s},
                   {"least_rate_percent", config.crowd.least_rate_percent},
                   {"too_slow", word_of(config.crowd.too_slow)},
                   {"ramp_s", static_cast<double>(config.crowd.ramp_ms) / 1000},
                   {"steady_s", rounded(outcome.steady_s)},
                   {"users", users_json(config, outcome.standing)},
                   {"drop_outs", drop_outs_json(tally, crowd)},
                   {"rate_error", rates_json(crowd.rates)},
                   {"wakeups", wakeups_json(tally, crowd)},
                   {"pacing", pacing_json(tally, crowd)},
                   {"cpu", cpu_json(outcome.cpu)}});
}

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
