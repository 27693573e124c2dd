// The head of the JSON: what the results of all kinds of run have in common.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "loadgen/config/config.h"
#include "loadgen/figures/figures.h"
#include "loadgen/figures/summary.h"

namespace loadgen {

// Of "schema". It changes when a field of the head changes what it means, or goes.
inline constexpr int kSchema = 1;

// No other code writes these fields. What only a kind of run has comes behind them. Holds every
// flag but the password. Requires: `summary` is that of `figures`.
nlohmann::ordered_json head_of(const Config& config, const Figures& figures,
                               const Summary& summary);

// The form of "errors", there and wherever else errors are counted.
nlohmann::ordered_json errors_json(const CausesAndCounts& causes, std::uint64_t total);

}  // namespace loadgen
