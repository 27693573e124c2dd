#include "loadgen/figures/tally.h"

#include <algorithm>
#include <numeric>

namespace loadgen {

namespace {

// Adds what only some kinds of run have.
template <typename Part>
void add_part(std::optional<Part>& sum, const std::optional<Part>& other) {
  if (!other) return;
  if (!sum) sum.emplace();
  sum->add(*other);
}

}  // namespace

std::uint64_t Tally::errors_total() const {
  return std::accumulate(errors.begin(), errors.end(), std::uint64_t{0});
}

void OpenTally::add(const OpenTally& other) {
  service_ns.add(other.service_ns);
  lateness_ns.add(other.lateness_ns);
  due += other.due;
  answered += other.answered;
  failed += other.failed;
  found_no_thread += other.found_no_thread;
  given_up += other.given_up;
}

void Tally::add(const Tally& other) {
  response_ns.add(other.response_ns);
  all_succeeded += other.all_succeeded;
  all_failed += other.all_failed;
  add_part(second_half_ns, other.second_half_ns);
  connect_ns += other.connect_ns;
  first_byte_ns += other.first_byte_ns;
  logged_in_ns += other.logged_in_ns;
  data_connected_ns += other.data_connected_ns;
  data_ended_ns += other.data_ended_ns;
  announced_bytes += other.announced_bytes;
  moved_bytes += other.moved_bytes;
  if (seconds.size() < other.seconds.size()) seconds.resize(other.seconds.size());
  for (std::size_t i = 0; i < other.seconds.size(); ++i) {
    seconds[i].requests += other.seconds[i].requests;
    seconds[i].response_ns += other.seconds[i].response_ns;
  }
  for (std::size_t i = 0; i < errors.size(); ++i) {
    errors[i] += other.errors[i];
    if (first_why[i].empty()) first_why[i] = other.first_why[i];
  }
  failed_ns += other.failed_ns;
  warmup_requests += other.warmup_requests;
  cooldown_requests += other.cooldown_requests;
  connections += other.connections;
  reconnects += other.reconnects;
  elapsed_ns = std::max(elapsed_ns, other.elapsed_ns);
  active_ns += other.active_ns;
  add_part(open, other.open);
  add_part(crowd, other.crowd);
  add_part(plateau, other.plateau);
  add_part(kinds, other.kinds);
  add_part(channels, other.channels);
  add_part(think, other.think);
}

}  // namespace loadgen
