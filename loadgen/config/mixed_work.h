// The flags of work that is not all alike: what each request is, is drawn.
#pragma once

#include "flags/option.h"
#include "loadgen/config/config.h"

namespace loadgen {

// Declares a group of --help.
void declare_mixed_work(flags::App& app, Config& config);

}  // namespace loadgen
