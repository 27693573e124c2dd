// The figures of a run, and whether they may be believed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "loadgen/tally.h"

namespace loadgen {

// All times are 0 when no request succeeded.
struct Summary {
  double elapsed_s = 0;  // from the start of the window to the end of the last request
  std::uint64_t requests = 0;
  double throughput_rps = 0;
  std::uint64_t bytes = 0;
  std::vector<std::pair<std::string, std::uint64_t>> errors;  // those that occurred
  std::uint64_t errors_total = 0;

  // Means, from the start of a request.
  double connect_ms = 0;
  double first_byte_ms = 0;
  double mean_ms = 0;  // to the last byte: the response time

  double n_check = 0;                        // X*R/N
  std::vector<std::string> invalid_because;  // empty: the run is valid
};

// Requires: threads > 0.
Summary summarize(const Tally& tally, int threads);

inline constexpr double kLeastNCheck = 0.97;
inline constexpr double kMostNCheck = 1.03;

}  // namespace loadgen
