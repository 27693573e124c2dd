// The thread model: one thread owns a connection from accept to close.
//
// With spare threads, many threads wait in accept on the one listener, and a connection wakes
// exactly one of them: nothing is handed over. A thread that takes a connection and leaves nobody
// waiting starts its own successor; one that is done waits again, or ends when enough others wait.
// Without spare threads (the paper's way) one thread accepts, and makes a thread for each
// connection.
#pragma once

#include "net/listen.h"
#include "serve/options.h"

namespace serve {

// Serves until SIGTERM or SIGINT (see base::hold_stop_signals), then drains; returns true when all
// is over, or false at once when not even one thread can be made, which has been logged. When a
// thread does not come back even after its connection was cut, ends the process instead,
// successfully.
bool serve_with_threads(net::Listener listener, const Options& options,
                        const MakeWorker& make_worker);

}  // namespace serve
