// What an authserver tells about itself at --telemetry-listen.
#pragma once

#include <sys/types.h>

#include "authserver/config.h"
#include "authserver/passwords/hash_lanes.h"
#include "telemetry/board.h"
#include "telemetry/endpoint.h"

namespace authserver {

// Its health is whether the store answers in 0.9 seconds, for which it opens a store of its own.
// All references must outlive the source. `server` is the process that the operator started.
telemetry::Source make_telemetry_source(const Config& config, const telemetry::Board& board,
                                        const HashLanes& lanes, pid_t server);

}  // namespace authserver
