// Sending much of a file where the thread may have other connections.
#pragma once

#include <sys/types.h>

#include <optional>

#include "net/socket_io.h"

namespace tls {
class Channel;
}  // namespace tls

namespace serve {

// One reply. A loop that sends for long is interrupted by each wake-up of a peer on the same host;
// a thread that has slept before is not. So such a thread sends long parts, if one is free. It
// comes back when the peer is slow. Without it, a loop sends no more at once than others can wait
// for.
class LongSend {
 public:
  // As net::send_file(), which it is where the thread has one connection. `encrypted` may be null.
  ssize_t send(int fd, tls::Channel* encrypted, const net::FilePart& part);

 private:
  std::optional<ssize_t> send_elsewhere(int fd, tls::Channel* encrypted,
                                        const net::FilePart& piece);

  bool is_peer_fast_ = true;
};

}  // namespace serve
