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

// The part of a time that lies in [start_ns, end_ns).
std::uint64_t within(std::int64_t start_ns, std::int64_t end_ns, std::int64_t from_ns,
                     std::int64_t to_ns) {
  const std::int64_t part_ns = std::min(end_ns, to_ns) - std::max(start_ns, from_ns);
  return part_ns > 0 ? static_cast<std::uint64_t>(part_ns) : 0;
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

void KindTally::add(const KindTally& other) {
  response_ns.add(other.response_ns);
  given_up += other.given_up;
  answered += other.answered;
  moved_bytes += other.moved_bytes;
  for (std::size_t cause = 0; cause < errors.size(); ++cause) errors[cause] += other.errors[cause];
}

void KindTallies::add(const KindTallies& other) {
  for (std::size_t kind = 0; kind < of_kind.size(); ++kind) of_kind[kind].add(other.of_kind[kind]);
}

void KindTallies::record(const Exchange& exchange, std::int64_t response_ns, bool has_time) {
  KindTally& tally = of(exchange.kind);
  if (!exchange.failure) {
    tally.response_ns.add(response_ns);
    tally.moved_bytes += exchange.moved_bytes;
    return;
  }
  ++tally.errors[exchange.failure->index()];
  if (!has_time) return;
  tally.response_ns.add(response_ns);
  ++tally.given_up;
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
  add_part(handshakes, other.handshakes);
}

}  // namespace loadgen
