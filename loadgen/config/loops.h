// The flags that only one kind of run has. Those of a crowd are in crowd.h.
#pragma once

#include "flags/option.h"
#include "loadgen/config/config.h"

namespace loadgen {

// Each declares a group of --help.
void declare_open_loop(flags::App& app, Config& config);
void declare_bursts(flags::App& app, Config& config);

}  // namespace loadgen
