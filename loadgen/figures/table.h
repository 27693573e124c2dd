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

// A sentence for who made the usual mistake, such as to measure the port of another protocol. Empty
// if a request succeeded, or if nothing is known.
std::string hint_of(const Config& config, const Summary& summary);

namespace crowd {

// The same of a crowd. Requires: the figures are those of one.
std::string table_of(const Config& config, const Figures& figures, const loadgen::Summary& summary);

}  // namespace crowd

}  // namespace loadgen
