// System calls that no server makes once it has started. The kernel refuses them from then on
// (seccomp, through libseccomp): EACCES, or ENOSYS where a library has another way then. Landlock
// covers what is reached through files and TCP ports; this covers what goes past both.
#pragma once

#include "base/result.h"

namespace guard {

// What a server still does that another one does not.
struct Calls {
  bool set_modes = false;      // mode, owner, attributes and times of files that it has open
  bool look_up_names = false;  // UDP, which asks name servers
};

// Refuses, to this thread and to all threads and processes that it starts later: programs, other
// kinds of sockets than those of TCP, UDP and Unix, TCP that goes past bind() and connect(), other
// modes, owners, attributes and times of files, debuggers, namespaces, mounts, io_uring, calls of
// another architecture, calls that libseccomp does not know, and the administration of the host.
// Cannot be undone.
//
// kUnavailable with the reason if the kernel cannot do it; then nothing is refused.
// Requires: forbid_more_rights().
base::Status refuse_calls(const Calls& still_made);

// Refuses listen() to all threads of this process, and to processes that it starts later. Without
// it, a socket that was never bound gets a port of every address. Requires: the server listens.
base::Status refuse_listening();

}  // namespace guard
