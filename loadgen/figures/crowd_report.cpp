#include "loadgen/figures/crowd_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/host.h"
#include "base/units.h"

namespace loadgen::crowd {

namespace {

using Json = nlohmann::ordered_json;

// The drop-outs that are listed one by one. Thousands of times would say no more.
constexpr std::size_t kMostListed = 1000;

double rounded(double value) { return std::round(value * 1e6) / 1e6; }

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double s_of(std::int64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(base::kNsPerS);
}

int in_first_fetch(const Tally& tally) {
  return static_cast<int>(std::count_if(tally.drop_outs.begin(), tally.drop_outs.end(),
                                        [](const DropOut& one) { return one.was_in_first_fetch; }));
}

Json users_json(const Config& config, const CrowdResult& result) {
  return {{"asked", config.crowd.users},
          {"started", result.standing.started},
          {"held", result.standing.held},
          {"without_fetch", result.standing.without_fetch},
          {"dropped", result.standing.started - result.standing.held}};
}

Json drop_outs_json(const Tally& tally) {
  Json causes = Json::object();
  for (const auto& [cause, count] : causes_of(tally.drop_outs)) causes[cause] = count;
  Json times = Json::array();
  Json reasons = Json::object();
  for (const DropOut& one : tally.drop_outs) {
    if (times.size() < kMostListed)
      times.push_back({{"t_s", rounded(s_of(one.at_ns))},
                       {"cause", one.cause},
                       {"in_first_fetch", one.was_in_first_fetch}});
    if (!one.why.empty() && !reasons.contains(one.cause)) reasons[one.cause] = one.why;
  }
  return {{"in_first_fetch", in_first_fetch(tally)},
          {"causes", causes},
          {"first_reasons", reasons},
          {"times", times}};
}

Json rates_json(const Tally& tally) {
  const RateErrors errors = rate_errors_of(tally.rate_errors);
  return {{"users", errors.users},
          {"worst", rounded(errors.worst)},
          {"p50", rounded(errors.p50)},
          {"share_within_5_percent", rounded(errors.share_within_5_percent)}};
}

Json wakeups_json(const Tally& tally) {
  return {{"wakeups", tally.wakeups},
          {"useful_reads", tally.useful_reads},
          {"empty_reads", tally.empty_reads},
          {"most_late_ms", tally.most_late_ms},
          {"per_useful_read", rounded(ratio(tally.wakeups, tally.useful_reads))},
          {"signal_overflows", tally.overflows}};
}

Json pacing_json(const Tally& tally) {
  const Pacing pacing = pacing_of(tally, most_send_buffer_bytes());
  return {{"name", pacing.name},
          {"file_bytes", tally.file_bytes},
          {"receive_buffer_bytes", tally.receive_buffer_bytes},
          {"buffers_bytes", pacing.buffers_bytes},
          {"waiting_bytes_mean", rounded(ratio(tally.waiting.sum, tally.waiting.samples))},
          {"waiting_bytes_max", tally.waiting.most},
          {"waiting_samples", tally.waiting.samples}};
}

Json cpu_json(const CpuSamples& cpu) {
  return {{"least_cores", rounded(cpu.least_cores)},
          {"used_cores", rounded(cpu.mean_cores)},
          {"most_cores", rounded(cpu.most_cores)},
          {"allowed_cores", rounded(cpu.allowed_cores)}};
}

std::string row(const char* name, const std::string& text) {
  return fmt::format("  {:<15}{}\n", name, text);
}

std::string causes_text(const Tally& tally) {
  std::string text;
  for (const auto& [cause, count] : causes_of(tally.drop_outs))
    text += fmt::format(", {} {}", cause, count);
  if (!tally.drop_outs.empty()) {
    text +=
        fmt::format("; {} in their first fetch; from {:.1f} s to {:.1f} s", in_first_fetch(tally),
                    s_of(tally.drop_outs.front().at_ns), s_of(tally.drop_outs.back().at_ns));
  }
  return text;
}

std::string pacing_text(const Tally& tally) {
  const Pacing pacing = pacing_of(tally, most_send_buffer_bytes());
  return fmt::format(
      "{}: file {}, buffers up to {} (receive buffer {}); {:.0f} bytes waited on average, {} at "
      "most",
      pacing.name, base::human_bytes(static_cast<double>(tally.file_bytes)),
      base::human_bytes(static_cast<double>(pacing.buffers_bytes)),
      base::human_bytes(static_cast<double>(tally.receive_buffer_bytes)),
      ratio(tally.waiting.sum, tally.waiting.samples), tally.waiting.most);
}

std::string reasons_rows(const Tally& tally) {
  std::string rows;
  for (const auto& known : causes_of(tally.drop_outs)) {
    const std::string& cause = known.first;
    const auto first = std::find_if(
        tally.drop_outs.begin(), tally.drop_outs.end(),
        [&cause](const DropOut& one) { return one.cause == cause && !one.why.empty(); });
    if (first != tally.drop_outs.end())
      rows += row("", fmt::format("first {}: {}", cause, first->why));
  }
  return rows;
}

}  // namespace

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

std::vector<std::pair<std::string, int>> causes_of(const std::vector<DropOut>& drop_outs) {
  std::vector<std::pair<std::string, int>> causes;
  for (const DropOut& one : drop_outs) {
    const auto known = std::find_if(causes.begin(), causes.end(),
                                    [&one](const auto& cause) { return cause.first == one.cause; });
    if (known == causes.end()) {
      causes.emplace_back(one.cause, 1);
    } else {
      ++known->second;
    }
  }
  return causes;
}

Pacing pacing_of(const Tally& tally, std::uint64_t send_buffer_bytes) {
  const std::uint64_t buffers = tally.receive_buffer_bytes + send_buffer_bytes;
  return {tally.file_bytes > buffers ? "paced transfer" : "paced reading", buffers};
}

std::uint64_t most_send_buffer_bytes() {
  const auto sizes = base::numbers_in("/proc/sys/net/ipv4/tcp_wmem");
  return sizes.size() == 3 ? static_cast<std::uint64_t>(sizes[2]) : std::uint64_t{4} << 20;
}

std::string json_of(const Config& config, const CrowdResult& result) {
  const Tally& tally = result.tally;
  const Json json{{"request", word_of(config.request)},
                  {"protocol", word_of(config.protocol)},
                  {"server", net::to_string(config.server)},
                  {"engine", word_of(config.crowd.engine)},
                  {"threads", result.threads},
                  {"rate_bytes_s", config.rate_rps},
                  {"least_rate_percent", config.crowd.least_rate_percent},
                  {"too_slow", word_of(config.crowd.too_slow)},
                  {"ramp_s", static_cast<double>(config.crowd.ramp_ms) / 1000},
                  {"start_unix_s", rounded(result.start_unix_s)},
                  {"elapsed_s", rounded(result.elapsed_s)},
                  {"steady_s", rounded(result.steady_s)},
                  {"end", word_of(result.end)},
                  {"users", users_json(config, result)},
                  {"drop_outs", drop_outs_json(tally)},
                  {"fetches", tally.fetches},
                  {"bytes", tally.bytes},
                  {"rate_error", rates_json(tally)},
                  {"wakeups", wakeups_json(tally)},
                  {"pacing", pacing_json(tally)},
                  {"cpu", cpu_json(result.cpu)},
                  {"server_addresses", result.servers},
                  {"sources", result.sources}};
  return json.dump(2) + "\n";
}

std::string table_of(const Config& config, const CrowdResult& result) {
  const Tally& tally = result.tally;
  const Standing& now = result.standing;
  const RateErrors errors = rate_errors_of(tally.rate_errors);
  std::string table = fmt::format(
      "get from {}: {} users at {:g} B/s each, {}, {}, {} thread{}, {:.1f} s (end: {})\n",
      net::to_string(config.server), config.crowd.users, config.rate_rps, word_of(config.protocol),
      word_of(config.crowd.engine), result.threads, result.threads == 1 ? "" : "s",
      result.elapsed_s, word_of(result.end));
  table += row("users", fmt::format("{} started, {} hold, {} dropped out{}", now.started, now.held,
                                    now.started - now.held, causes_text(tally)));
  table += reasons_rows(tally);
  table += row("fetches", fmt::format("{}, {}", tally.fetches,
                                      base::human_bytes(static_cast<double>(tally.bytes))));
  table +=
      row("rate error", fmt::format("worst {:.2f}%, p50 {:.2f}%; {:.2f}% of {} users within 5%",
                                    100 * errors.worst, 100 * errors.p50,
                                    100 * errors.share_within_5_percent, errors.users));
  table +=
      row("wake-ups", fmt::format("{}, {:.2f} for each of {} useful reads; {} empty reads; at most "
                                  "{} ms late",
                                  tally.wakeups, ratio(tally.wakeups, tally.useful_reads),
                                  tally.useful_reads, tally.empty_reads, tally.most_late_ms));
  if (config.crowd.engine == EngineKind::kSigio)
    table += row("overflows", fmt::format("{} of the signal queue", tally.overflows));
  table += row("pacing", pacing_text(tally));
  table += row("loadgen CPU", fmt::format("{:.3f} cores (least {:.3f}, most {:.3f}) of {:g}",
                                          result.cpu.mean_cores, result.cpu.least_cores,
                                          result.cpu.most_cores, result.cpu.allowed_cores));
  return table;
}

std::optional<std::string> failure_of(const CrowdResult& result) {
  std::string causes;
  for (const auto& [cause, count] : causes_of(result.tally.drop_outs))
    causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", cause, count);
  if (result.end == End::kTooSlow) return fmt::format("a user did not hold its rate: {}", causes);
  if (result.standing.held == 0) return fmt::format("no user holds: {}", causes);
  return {};
}

const char* word_of(End end) {
  switch (end) {
    case End::kStable: return "stable";
    case End::kSeconds: return "seconds";
    case End::kTooSlow: return "too-slow";
    case End::kNobodyHolds: return "nobody-holds";
    case End::kSignal: return "signal";
  }
  return "";
}

}  // namespace loadgen::crowd
