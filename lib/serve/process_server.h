// The process model: one process owns a connection from accept to close.
//
// The parent has one thread and forks. With spare processes, children wait in accept on the shared
// listener, as the threads of the thread model do; the parent is only asked when nobody waits any
// more. Without (the paper's way) the parent accepts, and forks for each connection.
#pragma once

#include "net/listen.h"
#include "serve/options.h"

namespace serve {

// Serves until SIGTERM or SIGINT (see base::hold_stop_signals), then drains; returns true in the
// parent when all children are reaped. Children never return. Workers are made in the children.
// When the parent dies, the children finish their request and end. Requires: no other thread in
// this process.
bool serve_with_processes(net::Listener listener, const Options& options,
                          const MakeWorker& make_worker);

}  // namespace serve
