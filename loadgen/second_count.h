// What the server itself has counted, as a second source beside loadgen's own count.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "loadgen/config/config.h"
#include "loadgen/figures/figures.h"

namespace loadgen {

// The requests that a fileserver has answered with OK since it was started.
struct ServerCounts {
  std::uint64_t accounts = 0;
  std::uint64_t files = 0;
  std::uint64_t uploads = 0;

  // Those of one kind.
  std::uint64_t of(RequestKind kind) const;
};

// Reads the counts from a page of metrics (docs/monitoring). Nothing: a fileserver does not write
// such a page.
std::optional<ServerCounts> counts_in(std::string_view page);

// Reads the counters of --telemetry before and after a run. Without that flag it does nothing.
//
// One thread.
class SecondCount {
 public:
  // `config` must outlive it.
  explicit SecondCount(const Config& config) : config_(config) {}

  // Before the first request is sent. Fails with one line if there are no such counters.
  base::Status begin();

  // After the last request has ended, and Figures::tally has all of them. Fills in
  // Figures::count_check.
  void finish(Figures& figures) const;

 private:
  base::Result<std::uint64_t> read() const;

  const Config& config_;
  std::uint64_t before_ = 0;
};

}  // namespace loadgen
