// What a fileserver tells about itself at --telemetry-listen.
#pragma once

#include <sys/types.h>

#include "telemetry/endpoint.h"

namespace fileserver {

struct Parts;

// Its health is whether the authserver answers a `ping` in 0.9 seconds, for which it has
// connections of its own. The parts must outlive the source. `server` is our process id. Requires:
// the parts have telemetry.
telemetry::Source make_telemetry_source(const Parts& parts, pid_t server);

}  // namespace fileserver
