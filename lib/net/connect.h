// The client's end of a connection.
#pragma once

#include "base/result.h"
#include "net/address.h"
#include "net/fd.h"

namespace net {

// Connects, and returns the socket. On TCP, TCP_NODELAY is set. No blocking call on the socket
// sleeps longer than `timeout_ms` (0: no limit). Connecting takes at most `connect_ms`, or
// `timeout_ms` if that is 0. Returns kUnavailable if the connection cannot be made in this time.
//
// `source` is the local address to connect from; its port is ignored. Null leaves it to the system.
base::Result<Fd> connect_to(const SocketAddress& address, std::int64_t timeout_ms,
                            const SocketAddress* source = nullptr, std::int64_t connect_ms = 0);

// Begins to connect and returns a socket that never blocks. It becomes writable when connecting has
// ended, and outcome_of_connect() then says how. `receive_buffer_bytes` is asked of the system for
// the socket; 0 leaves it alone. kUnavailable if connecting fails at once, kBusy if the queue of a
// server on a Unix-domain socket is full, of which nobody tells when it has room again.
base::Result<Fd> begin_to_connect(const SocketAddress& address, const SocketAddress* source,
                                  int receive_buffer_bytes);

// Returns 0 if the connection is there, or the errno of the failure.
int outcome_of_connect(int fd);

}  // namespace net
