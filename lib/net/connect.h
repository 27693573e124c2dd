// The client's end.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "net/address.h"
#include "net/fd.h"

namespace net {

// A connected socket with TCP_NODELAY whose blocking calls sleep for at most `timeout_ms` each (0:
// for ever). Connecting takes at most as long, or `connect_ms` where that is given. kUnavailable
// when there is nobody. `source`: the local address to come from (its port is ignored), or null for
// the system's choice.
base::Result<Fd> connect_to(const SocketAddress& address, std::int64_t timeout_ms,
                            const SocketAddress* source = nullptr, std::int64_t connect_ms = 0);

}  // namespace net
