// What a fileserver tells about itself at --telemetry-listen.
#pragma once

#include <sys/types.h>

#include "fileserver/config.h"
#include "fileserver/files/files.h"
#include "telemetry/board.h"
#include "telemetry/endpoint.h"

namespace fileserver {

// Its health is whether the authserver answers a `ping` in 0.9 seconds, for which it has
// connections of its own. All references must outlive the source. `server` is our process id.
telemetry::Source make_telemetry_source(const Config& config, const Files& files,
                                        const telemetry::Board& board, pid_t server);

}  // namespace fileserver
