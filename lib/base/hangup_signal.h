// SIGHUP: the request to open a log file again, or to read a file again.
#pragma once

namespace base {

// Blocks SIGHUP, so that it no longer ends the program, and returns a signalfd that becomes
// readable when it arrives, or -1 with errno. The caller owns it. The signal also arrives if the
// program was started by nohup. Called in main() before other threads are started, which then block
// it too.
int open_hangup_signal();

// Whether a SIGHUP has arrived. Takes it; never waits. `fd` is from open_hangup_signal().
bool take_hangup_signal(int fd);

}  // namespace base
