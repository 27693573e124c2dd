// The figures of a run, and whether they can be trusted.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "loadgen/recorder.h"

namespace loadgen {

// A run whose n_check is outside of these bounds is invalid.
inline constexpr double kLeastNCheck = 0.97;
inline constexpr double kMostNCheck = 1.03;

// n_check says little about a shorter run, because starting and ending its threads takes a good
// part of the time.
inline constexpr double kLeastElapsedS = 5;

struct ResponseTimes {
  double mean_ms = 0;
  double min_ms = 0;
  double p50_ms = 0;
  double p90_ms = 0;
  double p99_ms = 0;
  double p999_ms = 0;
  double max_ms = 0;
};

// The requests that ended in one second of the window.
struct SecondSummary {
  std::uint64_t requests = 0;
  double mean_ms = 0;  // 0 when there are none
};

// A Tally in the units of the reports. Only requests that succeeded count, except in the errors.
// All times of requests are 0 when none succeeded.
struct Summary {
  double elapsed_s = 0;  // from the start of the window to the end of the last request
  std::uint64_t requests = 0;
  double throughput_rps = 0;
  std::uint64_t bytes = 0;  // of files

  // The causes that occurred, each with its count.
  std::vector<std::pair<std::string, std::uint64_t>> errors;
  std::uint64_t errors_total = 0;

  // By cause, what the system said about the first failure, where it said anything.
  std::vector<std::pair<std::string, std::string>> first_errors;

  // Mean times from the start of a request until it was connected, until the first byte of its last
  // reply, and until its last byte with the percentiles.
  double connect_ms = 0;
  double first_byte_ms = 0;
  ResponseTimes response;

  std::vector<SecondSummary> per_second;

  // The self-check: X*R/N, which is 1 when every thread always had a request under way. See
  // docs/measuring.md.
  double n_check = 0;
  bool is_n_check_good() const { return n_check >= kLeastNCheck && n_check <= kMostNCheck; }
  std::vector<std::string> invalid_because;  // empty: the run is valid
};

// Requires: threads > 0.
Summary summarize(const Tally& tally, int threads);

}  // namespace loadgen
