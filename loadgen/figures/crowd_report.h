// What the reports say about a crowd.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "loadgen/config/config.h"
#include "loadgen/figures/figures.h"
#include "loadgen/figures/summary.h"

namespace loadgen::crowd {

// For each: `summary` is that of `figures`, which are those of a crowd.

// Adds the fields that stand in place of those of the other kinds of run.
void add_to(nlohmann::ordered_json& json, const Config& config, const Figures& figures,
            const loadgen::Summary& summary);

// All rows of the table, and its title.
std::string table_of(const Config& config, const Figures& figures, const loadgen::Summary& summary);

}  // namespace loadgen::crowd
