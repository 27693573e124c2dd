// Flags whose values are numbers with a fraction.
#pragma once

#include <string>

#include "flags/option.h"

namespace loadgen {

// Declares a flag for a number from `least` to `most`, both included. `accepted` says so in words.
// Without it `target` stays as it is.
flags::Option* add_decimal(flags::App& app, const std::string& name, const std::string& type_name,
                           const std::string& accepted, const std::string& help, double least,
                           double most, double& target);

}  // namespace loadgen
