#include <cmath>
#include <nlohmann/json.hpp>

#include "loadgen/report.h"

namespace loadgen {

namespace {

using Json = nlohmann::ordered_json;

// To the nanosecond where the unit is a millisecond: more digits would only look exact.
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

Json errors_json(const Summary& summary) {
  Json errors{{"total", summary.errors_total}};
  for (const auto& [word, count] : summary.errors) errors[word] = count;
  return errors;
}

Json response_time_json(const Histogram& response_ns) {
  return {{"mean", rounded(response_ns.mean() / 1e6)},
          {"min", ms(response_ns.min())},
          {"p50", ms(response_ns.value_at(500))},
          {"p90", ms(response_ns.value_at(900))},
          {"p99", ms(response_ns.value_at(990))},
          {"p99.9", ms(response_ns.value_at(999))},
          {"max", ms(response_ns.max())}};
}

Json phases_json(const Report& report) {
  Json phases = Json::object();
  if (report.config.connection == Connection::kPerRequest)
    phases["connect"] = rounded(report.summary.connect_ms);
  phases["first_byte"] = rounded(report.summary.first_byte_ms);
  phases["last_byte"] = rounded(report.summary.mean_ms);
  return phases;
}

Json per_second_json(const std::vector<Second>& seconds) {
  Json rows = Json::array();
  for (const Second& second : seconds) {
    const double mean_ns = second.requests == 0 ? 0
                                                : static_cast<double>(second.response_ns) /
                                                      static_cast<double>(second.requests);
    rows.push_back({{"t", rows.size() + 1},
                    {"requests", second.requests},
                    {"mean_ms", rounded(mean_ns / 1e6)}});
  }
  return rows;
}

}  // namespace

std::string json_of(const Report& report) {
  const Config& config = report.config;
  const Summary& summary = report.summary;
  const CpuUse& cpu = report.result.cpu;
  const double start_unix_s = report.result.start_unix_s;
  Json json{{"request", word_of(config.request)},
            {"server", net::to_string(config.server)},
            {"threads", config.threads},
            {"connection", word_of(config.connection)},
            {"elapsed_s", rounded(summary.elapsed_s)},
            {"requests", summary.requests},
            {"throughput_rps", rounded(summary.throughput_rps)},
            {"bytes", summary.bytes},
            {"errors", errors_json(summary)},
            {"response_time_ms", response_time_json(report.result.tally.response_ns)},
            {"per_second", per_second_json(report.result.tally.seconds)},
            {"phases_ms", phases_json(report)},
            {"valid", summary.invalid_because.empty()},
            {"invalid_because", summary.invalid_because},
            {"n_check", rounded(summary.n_check)},
            {"window",
             {{"start_unix_s", rounded(start_unix_s)},
              {"end_unix_s", rounded(start_unix_s + summary.elapsed_s)}}},
            {"warmup_s", static_cast<double>(config.warmup_ms) / 1000},
            {"warmup_requests", report.result.tally.warmup_requests},
            {"cpu",
             {{"used_cores", rounded(cpu.used_cores)},
              {"allowed_cores", rounded(cpu.allowed_cores)},
              {"is_bottleneck", cpu.is_bottleneck(config.threads)}}},
            {"sources", report.sources}};
  return json.dump(2) + "\n";
}

}  // namespace loadgen
