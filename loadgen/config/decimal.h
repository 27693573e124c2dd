// Flags whose values are numbers with a fraction.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "flags/option.h"

namespace loadgen {

// Declares a flag for a number from `least` to `most`, both included. `accepted` says so in words.
// Without it `target` stays as it is.
flags::Option* add_decimal(flags::App& app, const std::string& name, const std::string& type_name,
                           const std::string& accepted, const std::string& help, double least,
                           double most, double& target);

// The number behind `word`, such as `zipf:`. Nothing: that is not what `text` is.
std::optional<double> number_behind(std::string_view word, std::string_view text);

}  // namespace loadgen
