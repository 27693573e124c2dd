// SIGTERM and SIGINT: the request to stop.
//
// A program blocks both signals in all threads and takes them where it waits for them.
#pragma once

namespace base {

// Blocks both signals, so that they wait until a function below takes them. Also ignores SIGPIPE
// and SIGXFSZ, so that writing to a closed connection fails with EPIPE, and writing to a file that
// may not grow any more with EFBIG. Called in main() before other threads are started, which then
// inherit all of it.
void hold_stop_signals();

// Unblocks both signals in the calling thread. From then on they end the program. A signal that is
// already waiting ends it at once.
void release_stop_signals();

// Waits for one of the signals and takes it. Requires: hold_stop_signals().
void wait_for_stop_signal();

// Whether a signal is waiting; does not take it. Never blocks. Requires: hold_stop_signals().
bool stop_was_asked_for();

// Returns a signalfd that becomes readable when one of the signals is waiting, or -1 with errno.
// The caller owns it. Requires: hold_stop_signals().
int open_stop_signals();

// The same, also for SIGCHLD, which this function blocks. For a process that has children.
int open_stop_and_child_signals();

}  // namespace base
