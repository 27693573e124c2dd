// What is measured of each kind of request, in a run that mixes them.
#pragma once

#include <array>
#include <cstdint>

#include "loadgen/config/config.h"
#include "loadgen/figures/cause.h"
#include "loadgen/figures/exchange.h"
#include "loadgen/figures/histogram.h"

namespace loadgen {

// The members mean what those of Tally and OpenTally mean. The sum over the kinds is what these
// have.
struct KindTally {
  Histogram response_ns;
  std::uint64_t given_up = 0;  // only of an open loop, as the next one
  std::uint64_t answered = 0;
  std::uint64_t moved_bytes = 0;
  std::array<std::uint64_t, Cause::kCount> errors{};

  std::uint64_t succeeded() const { return response_ns.count() - given_up; }
  void add(const KindTally& other);
};

struct KindTallies {
  std::array<KindTally, kRequestKinds> of_kind;  // by index_of()

  KindTally& of(RequestKind kind) { return of_kind[index_of(kind)]; }
  const KindTally& of(RequestKind kind) const { return of_kind[index_of(kind)]; }
  void add(const KindTallies& other);

  // Adds a request. `has_time`: the time of one that failed is in the response times.
  void record(const Exchange& exchange, std::int64_t response_ns, bool has_time);
};

}  // namespace loadgen
