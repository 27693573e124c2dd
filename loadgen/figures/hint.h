// What may be wrong when nothing succeeds.
#pragma once

#include <string>

#include "loadgen/config/config.h"
#include "loadgen/figures/summary.h"

namespace loadgen {

// A sentence for who made the usual mistake, such as to measure the port of another protocol. Empty
// if a request succeeded, or if nothing is known.
std::string hint_of(const Config& config, const Summary& summary);

}  // namespace loadgen
