// What an authserver tells about itself at --telemetry-listen.
#pragma once

#include <sys/types.h>

#include "authserver/config.h"
#include "authserver/passwords/hash_lanes.h"
#include "telemetry/board.h"
#include "telemetry/endpoint.h"
#include "tls/server_context.h"

namespace authserver {

// Its health is whether the store answers in 0.9 seconds, for which it opens a store of its own.
// All must outlive the source. `tls` is null if nothing is encrypted. `server` is the process that
// the operator started.
telemetry::Source make_telemetry_source(const Config& config, const telemetry::Board& board,
                                        const HashLanes& lanes, tls::ServerContext* tls,
                                        pid_t server);

}  // namespace authserver
