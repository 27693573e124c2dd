// SIGTERM and SIGINT: the request to stop.
#pragma once

namespace base {

// In main, before the first thread: from now on the two signals only reach who waits for them, and
// a peer that is gone is an error code, never a SIGPIPE.
void hold_stop_signals();

// Undoes the holding in this thread: the two signals end the program again, at once if one waits.
void release_stop_signals();

// Returns when one has come.
void wait_for_stop_signal();

// Whether SIGTERM or SIGINT waits to be taken; requires hold_stop_signals(). Never blocks.
bool stop_was_asked_for();

// A descriptor that is readable when SIGTERM or SIGINT has come; the caller owns it. Requires
// hold_stop_signals().
int open_stop_signals();

// The same, and for SIGCHLD too, which it blocks: for who has children of its own.
int open_stop_and_child_signals();

}  // namespace base
