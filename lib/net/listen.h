// The server's end of a connection: a listening socket, and accept() with its errors sorted.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "net/address.h"
#include "net/fd.h"
#include "net/ip_address.h"
#include "net/unix_listener.h"

namespace net {

struct Listener {
  Fd fd;
  HostPort address;   // as requested; a requested port 0 is replaced by the one the system chose
  SocketFile file{};  // of a Unix-domain socket
};

// Binds a socket to the first address of the host. Connections are refused until
// start_listening(); on a Unix-domain socket they wait until then, see bind_unix(). Accepted
// sockets inherit three settings: TCP_NODELAY, notice_vanished_peer(), and that no blocking call
// sleeps longer than `io_slice_ms` (0: no limit). `send_buffer_bytes` asks for a fixed send buffer,
// which the system doubles; 0: it grows as the system thinks best.
//
// Returns kInternal with the reason on failure, for example when another program listens on the
// port.
base::Result<Listener> bind_to(const HostPort& address, std::int64_t io_slice_ms,
                               int send_buffer_bytes = 0);

// From now on the system completes connections and queues them for accept_from(). The queue is as
// long as the system allows. Returns kInternal with the reason on failure. That happens when
// another program bound the same address earlier, and began to listen only after bind_to().
base::Status start_listening(const Listener& listener);

// Both, one after the other.
base::Result<Listener> listen_on(const HostPort& address, std::int64_t io_slice_ms);

enum class AcceptVerdict {
  kAccepted,
  kTryAgain,        // the peer gave up, or no connection came within the time slice
  kOutOfResources,  // out of descriptors or memory: wait before the next try
  kListenerGone,    // this process has shut it down
};

struct Accepted {
  AcceptVerdict verdict;
  Fd fd;
  IpAddress peer;       // who connected; unspecified on a Unix-domain socket
  int errno_value = 0;  // why it was not kAccepted
};

// Waits for a connection, at most for the listener's time slice. Any number of threads and
// processes may wait on one listener; each connection wakes one of them.
Accepted accept_from(int listener);

// How many connections may wait for accept. Returns the longest queue that the system allows
// (net.core.somaxconn).
int longest_backlog();

}  // namespace net
