// The result of a run as a table, for people.
#pragma once

#include <string>

#include "loadgen/config/config.h"
#include "loadgen/figures/figures.h"
#include "loadgen/figures/summary.h"

namespace loadgen {

// Ends with a line ending, and holds neither the user's name nor the password. Requires: `summary`
// is that of `figures`.
std::string table_of(const Config& config, const Figures& figures, const Summary& summary);

}  // namespace loadgen
