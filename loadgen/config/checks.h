// Which values of flags are wrong. Flags that have no effect are known to effects.h.
#pragma once

#include <optional>
#include <string>

#include "loadgen/config/config.h"

namespace loadgen {

// Returns in one line what is wrong with the values of `config` and their combination, or nothing
// if they are acceptable. Requires: flags without effect hold their defaults.
std::optional<std::string> what_is_wrong_with(const Config& config);

}  // namespace loadgen
