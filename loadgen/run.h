// One run of the load generator, of any kind. It goes down the folders:
//
//   run        starts the threads, opens the window, watches it, joins the threads.
//   loops/     decide when a request is sent. A Load is one kind of run: closed, open, burst or
//              crowd. It makes a Loop for each thread.
//   clients/   send a request and receive the reply. A Client, or a Conversation with an Engine,
//              does what the Driver of a protocol says.
//   channels/  get one file by several connections: a Client of its own kind.
//   figures/   add up what was measured, judge it and print it; see figures/figures.h.
//   config/    is what the user has decided. All of the above may ask it.
#pragma once

#include "base/result.h"
#include "loadgen/config/config.h"
#include "loadgen/figures/figures.h"
#include "loadgen/preflight.h"

namespace loadgen {

// Starts all threads, lets them run, and joins them. Returns when the run is over.
//
// Requires: SIGINT and SIGTERM are blocked (base::hold_stop_signals). The first of them ends the
// run early, and the result so far is returned. It also unblocks both, so that a second one ends
// the program.
//
// Fails when the threads could not be started, when the system refuses what the kind of run needs,
// or when a file or the record of a transfer could not be saved.
base::Result<Figures> run(const Config& config, const Ready& ready);

}  // namespace loadgen
