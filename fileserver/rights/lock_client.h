// Asks a fileserver that runs on this host for its locks (--locks-of, --end-lock).
#pragma once

#include <string>
#include <string_view>

namespace fileserver {

// What takes the place of a process id: the only fileserver that this user may ask.
inline constexpr std::string_view kOnlyOne = "-";

struct LockQuestion {
  std::string server;    // a process id, or kOnlyOne; empty: the same
  std::string end = {};  // the token or the path of the locks to end; empty: all are listed
};

// Prints a line for each lock on standard output, or for each that was ended. Returns the exit
// status. 1 with a line on standard error: there is no such fileserver or lock, there are several
// fileservers, or this user may not ask. Requires: the process is not in a sandbox.
int ask_for_locks(const LockQuestion& question);

}  // namespace fileserver
