// Keeps what one thread measures.
#pragma once

#include <atomic>
#include <cstdint>

#include "loadgen/client.h"
#include "loadgen/tally.h"

namespace loadgen {

// So far, for whoever watches.
struct Live {
  std::uint64_t requests = 0;
  std::uint64_t errors = 0;
  std::uint64_t response_ns = 0;
};

// One thread writes; nothing is shared until it has been joined, but for live(). On cache lines of
// its own.
class alignas(64) Recorder {
 public:
  // The window begins. Requires: nothing recorded yet.
  void begin(std::int64_t start_ns) { start_ns_ = start_ns; }

  void record(const Exchange& exchange);

  // A request before the window.
  void count_warmup() { ++tally_.warmup_requests; }

  // After the thread is joined.
  const Tally& tally() const { return tally_; }

  // Any thread. Each figure is one that was true a moment ago.
  Live live() const;

 private:
  void succeeded(const Exchange& exchange);

  std::int64_t start_ns_ = 0;
  Tally tally_;

  // Copies of what tally_ has, for live(): figures to look at, which order nothing, so relaxed.
  std::atomic<std::uint64_t> live_requests_ = 0;
  std::atomic<std::uint64_t> live_errors_ = 0;
  std::atomic<std::uint64_t> live_response_ns_ = 0;
};

}  // namespace loadgen
