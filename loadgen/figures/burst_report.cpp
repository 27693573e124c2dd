#include "loadgen/figures/burst_report.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "loadgen/figures/format.h"

namespace loadgen::burst {

namespace {

using Json = nlohmann::ordered_json;

// Below it, the transfers mostly took place one after the other.
constexpr double kLeastSimultaneity = 0.5;

void add(Json& json, const SumsSummary& one) {
  json["transfers"] = one.transfers;
  json["failed"] = one.failed;
  json["bytes"] = one.bytes;
  json["span_s"] = rounded(one.span_s);
  json["rate_bytes_s"] = rounded(one.rate_bytes_s);
  json["simultaneity"] = rounded(one.simultaneity);
  json["release_spread_ms"] = rounded(one.release_spread_ms);
  json["first_byte_ms"] = rounded(one.first_byte_ms);
}

}  // namespace

Json json_of(const Summary& summary) {
  Json json{{"rounds", summary.rounds.size()}};
  add(json, summary.all);
  Json& rounds = json["per_round"] = Json::array();
  for (const SumsSummary& one : summary.rounds) {
    Json round{{"round", rounds.size() + 1}};
    add(round, one);
    rounds.push_back(std::move(round));
  }
  return json;
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
