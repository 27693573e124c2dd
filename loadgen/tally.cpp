#include "loadgen/tally.h"

#include <algorithm>
#include <numeric>

namespace loadgen {

std::uint64_t Tally::errors_total() const {
  return std::accumulate(errors.begin(), errors.end(), std::uint64_t{0});
}

void Tally::add(const Tally& other) {
  response_ns.add(other.response_ns);
  connect_ns += other.connect_ns;
  first_byte_ns += other.first_byte_ns;
  announced_bytes += other.announced_bytes;
  received_bytes += other.received_bytes;
  if (seconds.size() < other.seconds.size()) seconds.resize(other.seconds.size());
  for (std::size_t i = 0; i < other.seconds.size(); ++i) {
    seconds[i].requests += other.seconds[i].requests;
    seconds[i].response_ns += other.seconds[i].response_ns;
  }
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] += other.errors[i];
  failed_ns += other.failed_ns;
  warmup_requests += other.warmup_requests;
  elapsed_ns = std::max(elapsed_ns, other.elapsed_ns);
  active_ns += other.active_ns;
}

}  // namespace loadgen
