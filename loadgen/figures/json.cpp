#include "loadgen/figures/json.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "loadgen/figures/burst_report.h"
#include "loadgen/figures/crowd_report.h"
#include "loadgen/figures/format.h"
#include "loadgen/figures/head.h"
#include "loadgen/figures/units.h"

namespace loadgen {

namespace {

using Json = nlohmann::ordered_json;

Json first_errors_json(const Summary& summary) {
  Json errors = Json::object();
  for (const auto& [word, text] : summary.first_errors) errors[word] = text;
  return errors;
}

Json known_or_null(const std::optional<double>& percentile_ms) {
  return percentile_ms ? Json(rounded(*percentile_ms)) : Json();
}

Json response_time_json(const ResponseTimes& response) {
  return {{"mean", rounded(response.mean_ms)},     {"min", rounded(response.min_ms)},
          {"p50", rounded(response.p50_ms)},       {"p90", known_or_null(response.p90_ms)},
          {"p99", known_or_null(response.p99_ms)}, {"p99.9", known_or_null(response.p999_ms)},
          {"max", rounded(response.max_ms)}};
}

Json kinds_json(const Config& config, const std::vector<KindSummary>& kinds) {
  Json json = Json::object();
  for (const KindSummary& one : kinds) {
    if (!sends(config, one.kind)) continue;
    json[word_of(one.kind)] = {{"requests", one.requests},
                               {"throughput_rps", rounded(one.throughput_rps)},
                               {"bytes", one.bytes},
                               {"errors", errors_json(one.errors, one.errors_total)},
                               {"response_time_ms", response_time_json(one.response)}};
  }
  return json;
}

Json phases_json(const Config& config, const Summary& summary) {
  Json phases = Json::object();
  const bool is_kept = config.connection == Connection::kKeepAlive;
  const bool is_ftp = config.protocol == Protocol::kFtp;
  const bool starts_with_release = is_burst(config);
  if (!is_kept && !starts_with_release) phases["connect"] = rounded(summary.connect_ms);
  if (is_ftp && !is_kept && !starts_with_release)
    phases["logged_in"] = rounded(summary.logged_in_ms);
  if (is_ftp && !starts_with_release) phases["data_connect"] = rounded(summary.data_connected_ms);
  phases["first_byte"] = rounded(summary.first_byte_ms);
  if (is_ftp) phases["data_end"] = rounded(summary.data_ended_ms);
  phases["last_byte"] = rounded(summary.last_byte_ms());
  return phases;
}

Json per_second_json(const std::vector<SecondSummary>& seconds) {
  Json rows = Json::array();
  for (const SecondSummary& second : seconds) {
    rows.push_back({{"t", rows.size() + 1},
                    {"requests", second.requests},
                    {"mean_ms", rounded(second.mean_ms)}});
  }
  return rows;
}

Json cpu_json(const CpuUse& cpu, int threads) {
  return {{"used_cores", rounded(cpu.used_cores)},
          {"allowed_cores", rounded(cpu.allowed_cores)},
          {"us_per_request", rounded(cpu.us_per_request)},
          {"is_bottleneck", cpu.is_bottleneck(threads)}};
}

Json open_loop_json(const Config& config, const OpenSummary& open) {
  return {{"rate_rps", config.rate_rps},
          {"arrivals", word_of(config.arrivals)},
          {"seed", config.seed},
          {"due", open.due},
          {"found_no_thread", open.found_no_thread},
          {"given_up", open.given_up},
          {"service_time_ms", response_time_json(open.service)},
          {"lateness_ms", response_time_json(open.lateness)},
          {"is_late", open.is_late}};
}

Json plateau_json(const PlateauSummary& plateau) {
  return {{"threads_started", plateau.threads_started},
          {"start_s", rounded(plateau.start_s)},
          {"elapsed_s", rounded(plateau.elapsed_s)},
          {"requests", plateau.requests},
          {"throughput_rps", rounded(plateau.throughput_rps)},
          {"response_time_ms", response_time_json(plateau.response)},
          {"n_check", rounded(plateau.n_check)}};
}

Json run_delay_json(const CpuUse& cpu, const Summary& summary) {
  return {{"share", rounded(cpu.run_delay_share)},
          {"ms_per_request", rounded(cpu.run_delay_ms_per_request)},
          {"is_starved", summary.is_starved()}};
}

Json stalls_json(const Stalls& stalls) {
  return {{"count", stalls.count},
          {"longest", rounded(ms_of(static_cast<double>(stalls.longest_ns)))},
          {"total", rounded(ms_of(static_cast<double>(stalls.total_ns)))}};
}

Json distributions_json(const Summary& summary) {
  Json lists{{"distribution", summary.distribution},
             {"halves", summary.halves.empty() ? Json() : Json(summary.halves)}};
  if (summary.plateau) lists["plateau_distribution"] = summary.plateau->distribution;
  if (summary.open) {
    lists["service_distribution"] = summary.open->service_distribution;
    lists["lateness_distribution"] = summary.open->lateness_distribution;
  }
  return lists;
}

// Hundreds of numbers stand in a line for each list, and not in one for each number. They are the
// last fields. Requires: `object` is the text of an object that has a field.
std::string with_lists(std::string object, const Json& lists) {
  object.resize(object.rfind("\n}"));
  for (const auto& [name, list] : lists.items())
    object += fmt::format(",\n  \"{}\": {}", name, list.dump());
  return object + "\n}";
}

Json under_way_json(const UnderWaySummary& under_way) {
  return {{"samples", under_way.samples},
          {"mean", rounded(under_way.mean)},
          {"expected", rounded(under_way.expected)}};
}

Json count_json(const CountCheck& check) {
  const bool is_known = check.why_unknown.empty();
  return {{"address", check.address},
          {"server_requests", is_known ? Json(check.server) : Json()},
          {"loadgen_requests", check.loadgen},
          {"agrees", check.agrees()}};
}

Json channels_json(const Config& config, const ChannelTally& channels) {
  return {{"asked", config.channels.count},
          {"used", channels.used},
          {"pool_bytes", config.channels.pool_bytes},
          {"reorder_bytes_max", channels.reorder_bytes_max},
          {"lost", channels.lost},
          {"resumed_bytes", channels.resumed_bytes},
          {"begun_again", channels.begun_again}};
}

// The fields of a run in which each thread sends one request after the other.
void add_requests(Json& json, const Config& config, const Figures& figures,
                  const Summary& summary) {
  json.update(Json{{"threads", config.threads},
                   {"connection", word_of(config.connection)},
                   {"response_time_ms", response_time_json(summary.response)},
                   {"per_second", per_second_json(summary.per_second)},
                   {"phases_ms", phases_json(config, summary)},
                   {"n_check", summary.has_n_check() ? Json(rounded(summary.n_check)) : Json()},
                   {"warmup_s", static_cast<double>(config.warmup_ms) / 1000},
                   {"warmup_requests", figures.tally.warmup_requests},
                   {"cooldown_requests", figures.tally.cooldown_requests},
                   {"cpu", cpu_json(figures.cpu, config.threads)},
                   {"first_errors", first_errors_json(summary)}});
  if (figures.tally.channels) json["channels"] = channels_json(config, *figures.tally.channels);
  if (config.users > 0) json["users"] = {{"asked", config.users}};
  if (summary.think_ms) json["think_s"] = std::round(*summary.think_ms * 1e6) / 1e9;
}

}  // namespace

std::string json_of(const Config& config, const Figures& figures, const Summary& summary,
                    const Json& more) {
  Json json = head_of(config, figures, summary);
  if (summary.crowd) {
    crowd::add_to(json, config, figures, summary);
  } else {
    add_requests(json, config, figures, summary);
  }
  json["run_delay"] = run_delay_json(figures.cpu, summary);
  json["stalls_ms"] = stalls_json(figures.stalls);
  json["server_addresses"] = figures.servers;
  json["sources"] = figures.sources;
  if (summary.under_way) json["under_way"] = under_way_json(*summary.under_way);
  if (figures.count_check) json["telemetry"] = count_json(*figures.count_check);
  if (summary.open) json["open_loop"] = open_loop_json(config, *summary.open);
  if (figures.start_late_s) json["start_late_s"] = rounded(*figures.start_late_s);
  if (summary.plateau) json["plateau"] = plateau_json(*summary.plateau);
  if (!summary.kinds.empty()) json["kinds"] = kinds_json(config, summary.kinds);
  if (summary.burst) json["burst"] = burst::json_of(*summary.burst);
  json.update(more);
  const auto replace = Json::error_handler_t::replace;  // a flag may hold any bytes
  const std::string text = json.dump(2, ' ', false, replace);
  return (summary.crowd ? text : with_lists(text, distributions_json(summary))) + "\n";
}

}  // namespace loadgen
