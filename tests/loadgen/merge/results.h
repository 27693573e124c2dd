// Results of testers, as loadgen writes them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "loadgen/figures/json.h"
#include "loadgen/figures/summary.h"

namespace tests {

inline loadgen::Config config_of_tester() {
  loadgen::Config config;
  config.threads = 2;
  config.user = "amy";
  config.file = "1KB1.txt";
  config.settings = {{"file", config.file}};
  return config;
}

// Of requests with these response times, of 1000 bytes each. They ended in the first of two
// seconds.
inline loadgen::Figures figures_of(const std::vector<std::int64_t>& response_ns,
                                   double start_unix_s = 1'700'000'000) {
  loadgen::Figures figures;
  loadgen::Tally& tally = figures.tally;
  for (const std::int64_t one : response_ns) tally.response_ns.add(one);
  const std::uint64_t count = tally.response_ns.count();
  tally.announced_bytes = tally.moved_bytes = 1000 * count;
  tally.seconds = {{count, tally.response_ns.sum()}, {0, 0}};
  tally.elapsed_ns = 2 * base::kNsPerS;
  tally.active_ns = 4 * base::kNsPerS;
  figures.start_unix_s = start_unix_s;
  figures.servers = {"127.0.0.1:9000"};
  return figures;
}

inline nlohmann::json result_of(const loadgen::Figures& figures,
                                const loadgen::Config& config = config_of_tester()) {
  const auto summary = loadgen::summarize(figures, config.threads);
  return nlohmann::json::parse(loadgen::json_of(config, figures, summary));
}

inline nlohmann::json result_of(const std::vector<std::int64_t>& response_ns) {
  return result_of(figures_of(response_ns));
}

}  // namespace tests
