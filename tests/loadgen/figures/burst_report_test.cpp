#include "loadgen/figures/burst.h"

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "loadgen/figures/json.h"
#include "loadgen/figures/table.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"
#include "tests/loadgen/figures/two_seconds.h"

using base::kNsPerMs;
using loadgen::Config;
using loadgen::Figures;
using tests::contains;
using tests::two_seconds;

namespace {

Config two_threads() {
  Config config;
  config.threads = 2;
  config.user = "somebody";
  config.file = "1KB1.txt";
  return config;
}

nlohmann::json parsed_burst(const Config& config, const Figures& result) {
  const auto summary = loadgen::summarize(result, config.threads);
  return nlohmann::json::parse(loadgen::json_of(config, result, summary));
}

}  // namespace

TEST_CASE("a burst is reported with its rounds and without X*R/N", "[loadgen]") {
  Config config = two_threads();
  config.release = loadgen::Release::kTransfer;
  Figures result = two_seconds();
  result.rounds = {{.transfers = 2,
                    .failed = 1,
                    .bytes = 4000,
                    .span_ns = 2e9,
                    .transfer_ns = 1e9,
                    .capacity_ns = 4e9,
                    .first_byte_ns = 6e6,
                    .release_spread_ns = kNsPerMs / 2}};
  const auto json = parsed_burst(config, result);
  CHECK(json["n_check"].is_null());
  CHECK(json["valid"] == true);
  CHECK_FALSE(json["phases_ms"].contains("connect"));
  const auto& burst = json["burst"];
  CHECK(burst["rounds"] == 1);
  CHECK(burst["failed"] == 1);
  CHECK(burst["span_s"] == 2);
  CHECK(burst["rate_bytes_s"] == 2000);
  CHECK(burst["simultaneity"] == 0.25);
  CHECK(burst["release_spread_ms"] == 0.5);
  CHECK(burst["first_byte_ms"] == 3);
  REQUIRE(burst["per_round"].size() == 1);
  CHECK(burst["per_round"][0]["round"] == 1);
  CHECK(burst["per_round"][0]["bytes"] == 4000);
  const std::string text =
      loadgen::table_of(config, result, loadgen::summarize(result, config.threads));
  CHECK(contains(text, "simultaneity 0.250"));
  CHECK(contains(text, "overlapped little"));
  CHECK_FALSE(contains(text, "N = X*R"));
  CHECK_FALSE(parsed_burst(two_threads(), two_seconds()).contains("burst"));
}
