#include "loadgen/figures/kinds.h"

namespace loadgen {

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

}  // namespace loadgen
