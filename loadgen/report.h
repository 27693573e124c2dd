// The two forms in which a run is reported: JSON for programs, a table for people.
#pragma once

#include <string>

#include "loadgen/config.h"
#include "loadgen/run.h"
#include "loadgen/summary.h"

namespace loadgen {

// Both end with a line ending and hold neither the user's name nor the password. `summary` must be
// that of `result`. The keys of the JSON are part of the contract with other programs.
std::string json_of(const Config& config, const RunResult& result, const Summary& summary);
std::string table_of(const Config& config, const RunResult& result, const Summary& summary);

// The errors in one line, such as "denied 3, timeout 1", or "none".
std::string errors_text(const Summary& summary);

}  // namespace loadgen
