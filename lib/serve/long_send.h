// Sending much of a file where the thread has other connections.
#pragma once

#include <sys/types.h>

#include <optional>

#include "net/socket_io.h"

namespace serve {

// One reply. A loop that sends for long is interrupted by each wake-up of a peer on the same host;
// a thread that has slept before is not. So such a thread sends long parts, if one is free. It
// comes back when the peer is slow.
class LongSend {
 public:
  // As sendfile() returns, with errno; EAGAIN: the peer is slow. Nothing: the caller has to send.
  std::optional<ssize_t> send(int fd, const net::FilePart& part);

 private:
  bool is_peer_fast_ = true;
};

}  // namespace serve
