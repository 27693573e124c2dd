// The two forms in which a run is reported: JSON for programs, a table for people.
#pragma once

#include <optional>
#include <string>

#include "loadgen/config/config.h"
#include "loadgen/figures/summary.h"
#include "loadgen/run.h"

namespace loadgen {

// Both end with a line ending and hold neither the user's name nor the password. `summary` must be
// that of `result`. The keys of the JSON are part of the contract with other programs.
std::string json_of(const Config& config, const RunResult& result, const Summary& summary);
std::string table_of(const Config& config, const RunResult& result, const Summary& summary);

// The errors in one line, such as "denied 3, timeout 1", or "none".
std::string errors_text(const Summary& summary);

// Why the exit status must be 1, in one line: a request failed, or the run is invalid. Nothing if
// neither is so. A run shorter than kLeastElapsedS does not fail because of its n_check alone, so
// that a few requests can be used as a test of the server.
std::optional<std::string> failure_of(const Summary& summary);

}  // namespace loadgen
