#include "loadgen/figures/plateau.h"

#include <algorithm>

namespace loadgen {

void PlateauTally::add(const Exchange& exchange, std::int64_t start_ns, std::int64_t end_ns) {
  if (exchange.failure) return;
  const std::int64_t from_ns = std::max(start_ns, exchange.started_ns);
  const std::int64_t to_ns = std::min(end_ns, exchange.ended_ns);
  if (to_ns > from_ns) busy_ns += static_cast<std::uint64_t>(to_ns - from_ns);
  if (exchange.ended_ns >= start_ns && exchange.ended_ns < end_ns)
    response_ns.add(exchange.ended_ns - exchange.started_ns);
}

void PlateauTally::add(const PlateauTally& other) {
  threads_started += other.threads_started;
  response_ns.add(other.response_ns);
  busy_ns += other.busy_ns;
}

}  // namespace loadgen
