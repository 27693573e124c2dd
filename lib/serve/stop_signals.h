// SIGTERM and SIGINT: the request to stop.
#pragma once

namespace serve {

// In main, before the first thread: from now on the two signals only reach who waits for them, and a peer that is gone
// is an error code, never a SIGPIPE.
void hold_stop_signals();

// Returns when one has come.
void wait_for_stop_signal();

// A descriptor that is readable when SIGTERM, SIGINT or SIGCHLD has come; the caller owns it. Blocks SIGCHLD.
int open_stop_and_child_signals();

}  // namespace serve
