// What the reports say about a burst.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "loadgen/figures/burst.h"

namespace loadgen::burst {

// The field `burst` of the JSON.
nlohmann::ordered_json json_of(const Summary& summary);

// The burst in one line of the table.
std::string text_of(const Summary& summary);

// Says that the transfers did not overlap much; empty if they did.
std::string warning_of(const Summary& summary);

}  // namespace loadgen::burst
