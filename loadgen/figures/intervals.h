// How far the figures of a run would differ in another run of the same load.
#pragma once

#include <optional>

#include "loadgen/figures/summary.h"

namespace loadgen {

// A shorter run has too few seconds to tell.
inline constexpr int kLeastIntervalS = 10;

// 95% intervals by batch means: the whole seconds of the run are divided into ten parts of equal
// length, one behind the other, and how these differ tells how runs would differ. Requests that are
// slow together do not look like many independent ones then. A percentile has the interval of its
// ranks, for as many independent requests as would differ from part to part as much.
//
// Of a closed or an open loop. Nothing: the run was shorter, or no request ended in one of the
// parts, so that the parts are no sample of a steady run. Requires: the times, the seconds and the
// distribution of `summary` are filled in.
std::optional<Intervals> intervals_of(const Summary& summary);

}  // namespace loadgen
