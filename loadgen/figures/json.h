// The result of a run as JSON, for programs.
#pragma once

#include <string>

#include "loadgen/config/config.h"
#include "loadgen/figures/figures.h"
#include "loadgen/figures/summary.h"

namespace loadgen {

// Ends with a line ending, and holds neither the user's name nor the password. The keys are part of
// the contract with other programs. Requires: `summary` is that of `figures`.
std::string json_of(const Config& config, const Figures& figures, const Summary& summary);

}  // namespace loadgen
