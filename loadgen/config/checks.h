// Which flags of a run do not go together.
#pragma once

#include <optional>
#include <string>

#include "loadgen/config/config.h"

namespace loadgen {

// Returns in one line what is wrong with the values of `config` and their combination, or nothing
// if they are acceptable.
std::optional<std::string> what_is_wrong_with(const Config& config);

}  // namespace loadgen
