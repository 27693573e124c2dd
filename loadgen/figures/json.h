// The result of a run as JSON, for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "loadgen/config/config.h"
#include "loadgen/figures/figures.h"
#include "loadgen/figures/summary.h"

namespace loadgen {

// The fields of schema.h that this kind of run has. Ends with a line ending, and does not hold the
// password. The keys are part of the contract with other programs. Requires: `summary` is that of
// `figures`.
//
// `more` are further fields, which stand behind all but the distributions.
std::string json_of(const Config& config, const Figures& figures, const Summary& summary,
                    const nlohmann::ordered_json& more = nlohmann::ordered_json::object());

}  // namespace loadgen
