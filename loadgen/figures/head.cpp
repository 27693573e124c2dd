#include "loadgen/figures/head.h"

#include <nlohmann/json.hpp>
#include <variant>

#include "flags/about.h"
#include "loadgen/figures/format.h"

namespace loadgen {

namespace {

using Json = nlohmann::ordered_json;

Json settings_json(const std::vector<flags::Setting>& settings) {
  Json json = Json::object();
  for (const flags::Setting& one : settings) {
    Json& value = json[one.name];
    std::visit(
        [&value](const auto& given) {
          if constexpr (!std::is_same_v<decltype(given), const std::monostate&>) value = given;
        },
        one.value);
  }
  return json;
}

}  // namespace

Json errors_json(const CausesAndCounts& causes, std::uint64_t total) {
  Json errors{{"total", total}};
  for (const auto& [word, count] : causes) errors[word] = count;
  return errors;
}

Json head_of(const Config& config, const Figures& figures, const Summary& summary) {
  return {{"schema", kSchema},
          {"version", flags::version()},
          {"request", word_of(config.request)},
          {"protocol", word_of(config.protocol)},
          {"server", net::to_string(config.server)},
          {"settings", settings_json(config.settings)},
          {"started_unix_s", rounded(figures.start_unix_s)},
          {"elapsed_s", rounded(summary.elapsed_s)},
          {"end", word_of(figures.end)},
          {"valid", summary.invalid_because.empty()},
          {"invalid_because", summary.invalid_because},
          {"requests", summary.requests},
          {"throughput_rps", rounded(summary.throughput_rps)},
          {"bytes", summary.bytes},
          {"errors", errors_json(summary.errors, summary.errors_total)},
          {"connections", figures.tally.connections},
          {"reconnects", figures.tally.reconnects}};
}

}  // namespace loadgen
