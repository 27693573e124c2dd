#include "loadgen/recorder.h"

#include <algorithm>
#include <numeric>

#include "base/clock.h"

namespace loadgen {

std::uint64_t Tally::errors_total() const {
  return std::accumulate(errors.begin(), errors.end(), std::uint64_t{0});
}

void Tally::add(const Tally& other) {
  response_ns.add(other.response_ns);
  connect_ns += other.connect_ns;
  first_byte_ns += other.first_byte_ns;
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
  elapsed_ns = std::max(elapsed_ns, other.elapsed_ns);
  active_ns += other.active_ns;
}

void Recorder::record(const Exchange& exchange) {
  tally_.elapsed_ns = exchange.ended_ns - start_ns_;
  tally_.active_ns = static_cast<std::uint64_t>(tally_.elapsed_ns);
  if (!exchange.failure) return succeeded(exchange);

  const std::size_t cause = exchange.failure->index();
  if (++tally_.errors[cause] == 1) tally_.first_why[cause] = exchange.why;
  tally_.failed_ns += static_cast<std::uint64_t>(exchange.ended_ns - exchange.started_ns);
  live_errors_.store(live_errors_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Recorder::succeeded(const Exchange& exchange) {
  const std::int64_t response_ns = exchange.ended_ns - exchange.started_ns;
  tally_.response_ns.add(response_ns);
  if (exchange.connected_ns != 0) {
    tally_.connect_ns += static_cast<std::uint64_t>(exchange.connected_ns - exchange.started_ns);
  }
  tally_.first_byte_ns += static_cast<std::uint64_t>(exchange.first_byte_ns - exchange.started_ns);
  tally_.announced_bytes += exchange.announced_bytes;
  tally_.moved_bytes += exchange.moved_bytes;

  const auto second = static_cast<std::size_t>(tally_.elapsed_ns / base::kNsPerS);
  if (second >= tally_.seconds.size()) tally_.seconds.resize(second + 1);
  ++tally_.seconds[second].requests;
  tally_.seconds[second].response_ns += static_cast<std::uint64_t>(response_ns);

  live_requests_.store(tally_.response_ns.count(), std::memory_order_relaxed);
  live_response_ns_.store(tally_.response_ns.sum(), std::memory_order_relaxed);
}

Live Recorder::live() const {
  return {live_requests_.load(std::memory_order_relaxed),
          live_errors_.load(std::memory_order_relaxed),
          live_response_ns_.load(std::memory_order_relaxed)};
}

}  // namespace loadgen
