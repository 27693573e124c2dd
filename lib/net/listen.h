// The server's end: a listening socket, and accept with its errors sorted.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "net/address.h"
#include "net/fd.h"

namespace net {

struct Listener {
  Fd fd;
  HostPort address;  // as asked for, with the port that the system picked where 0 was asked for
};

// Listens with the longest queue that the host allows. Accepted sockets inherit TCP_NODELAY and
// `io_slice_ms`, the longest time one blocking call may sleep on them (0: for ever).
base::Result<Listener> listen_on(const HostPort& address, std::int64_t io_slice_ms);

// How long the queue of connections waiting for accept may be: net.core.somaxconn.
int longest_backlog();

enum class AcceptVerdict {
  kAccepted,
  kTryAgain,        // the peer gave up, or nobody came within the time slice
  kOutOfResources,  // descriptors or memory are short: wait a little
  kListenerGone,    // shut down, by us
};

struct Accepted {
  AcceptVerdict verdict;
  Fd fd;
  int errno_value = 0;  // why it was not kAccepted
};

// Blocks. Any number of threads or processes may wait on one listener; each connection wakes one of
// them.
Accepted accept_from(int listener);

}  // namespace net
