// Which flag has an effect in which kind of run.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "flags/option.h"
#include "loadgen/config/config.h"

namespace loadgen {

// Returns why the flag with this name, such as "--seed", has no effect in the run of `config`: a
// sentence that says what it needs. Nothing if it has one. Requires: knows_effect_of(flag).
std::optional<std::string> why_without_effect(std::string_view flag, const Config& config);

// Whether the table has a row for the flag.
bool knows_effect_of(std::string_view flag);

// Returns the sentence for the first flag without effect that stands on the command line, or
// nothing. Flags without effect from the environment or a file are forgotten. `config` is what the
// options of `app` write into. Requires: the table has a row for each of them.
std::optional<std::string> settle_effects(flags::App& app, const Config& config);

}  // namespace loadgen
