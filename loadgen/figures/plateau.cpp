#include "loadgen/figures/plateau.h"

#include <algorithm>

namespace loadgen {

namespace {

// The part of a time that lies in [start_ns, end_ns).
std::uint64_t within(std::int64_t start_ns, std::int64_t end_ns, std::int64_t from_ns,
                     std::int64_t to_ns) {
  const std::int64_t part_ns = std::min(end_ns, to_ns) - std::max(start_ns, from_ns);
  return part_ns > 0 ? static_cast<std::uint64_t>(part_ns) : 0;
}

}  // namespace

void PlateauTally::add(const Exchange& exchange, std::int64_t start_ns, std::int64_t end_ns) {
  if (exchange.failure) return;
  busy_ns += within(start_ns, end_ns, exchange.started_ns, exchange.ended_ns);
  if (exchange.ended_ns >= start_ns && exchange.ended_ns < end_ns)
    response_ns.add(exchange.ended_ns - exchange.started_ns);
}

void PlateauTally::add(const Pause& pause, std::int64_t start_ns, std::int64_t end_ns) {
  paused_ns += within(start_ns, end_ns, pause.from_ns, pause.to_ns);
}

void PlateauTally::add(const PlateauTally& other) {
  threads_started += other.threads_started;
  response_ns.add(other.response_ns);
  busy_ns += other.busy_ns;
  paused_ns += other.paused_ns;
}

}  // namespace loadgen
