// What happened in the measured window, as counts and sums that can be added up.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "loadgen/cause.h"
#include "loadgen/histogram.h"

namespace loadgen {

// The requests that succeeded in one second of the window.
struct Second {
  std::uint64_t requests = 0;
  std::uint64_t response_ns = 0;
};

struct Tally {
  // Of the requests that succeeded.
  Histogram response_ns;
  std::uint64_t connect_ns = 0;
  std::uint64_t first_byte_ns = 0;
  std::uint64_t announced_bytes = 0;
  std::uint64_t received_bytes = 0;
  std::vector<Second> seconds;  // by the second in which they ended

  // Of those that did not.
  std::array<std::uint64_t, Cause::kCount> errors{};
  std::uint64_t failed_ns = 0;

  std::uint64_t warmup_requests =
      0;  // before the window, whatever became of them: for comparing with a server's count

  // From the start of the window to the end of a thread's last request: the longest, and the sum
  // over the threads.
  std::int64_t elapsed_ns = 0;
  std::uint64_t active_ns = 0;

  std::uint64_t errors_total() const;
  void add(const Tally& other);
};

}  // namespace loadgen
