#include "loadgen/figures/burst_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.h"

namespace loadgen::burst {

namespace {

using Json = nlohmann::ordered_json;

// Below it, the transfers mostly took place one after the other.
constexpr double kLeastSimultaneity = 0.5;

double rounded(double value) { return std::round(value * 1e6) / 1e6; }

void add(Json& json, const Figures& figures) {
  json["transfers"] = figures.transfers;
  json["failed"] = figures.failed;
  json["bytes"] = figures.bytes;
  json["span_s"] = rounded(figures.span_s);
  json["rate_bytes_s"] = rounded(figures.rate_bytes_s);
  json["simultaneity"] = rounded(figures.simultaneity);
  json["release_spread_ms"] = rounded(figures.release_spread_ms);
  json["first_byte_ms"] = rounded(figures.first_byte_ms);
}

}  // namespace

Json json_of(const Summary& summary) {
  Json json{{"rounds", summary.rounds.size()}};
  add(json, summary.all);
  Json& rounds = json["per_round"] = Json::array();
  for (const Figures& figures : summary.rounds) {
    Json round{{"round", rounds.size() + 1}};
    add(round, figures);
    rounds.push_back(std::move(round));
  }
  return json;
}

std::string text_of(const Summary& summary) {
  const Figures& all = summary.all;
  return fmt::format(
      "{} round{}, {}/s from the first request to the last byte; simultaneity {:.3f}, released "
      "within {:.3f} ms, first byte {:.3f} ms later",
      summary.rounds.size(), summary.rounds.size() == 1 ? "" : "s",
      base::human_bytes(all.rate_bytes_s), all.simultaneity, all.release_spread_ms,
      all.first_byte_ms);
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
