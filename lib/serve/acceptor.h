// Accepts connections from one listener, for any number of threads and processes.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "net/fd.h"
#include "net/listen.h"

namespace serve {

// A connection that was accepted, and the address of its peer.
struct Arrival {
  net::Fd fd;
  net::IpAddress peer;
};

class Acceptor {
 public:
  // The last descriptors of the process are not for connections. The server needs them for other
  // servers and for files. With a limit below 64 it is a quarter of the limit.
  static constexpr int kKeptDescriptors = 16;

  // The limit of descriptors must not change after that.
  explicit Acceptor(net::Listener listener);

  // Waits for the next connection. Returns nothing once stop() was called. When descriptors or
  // memory run out, it logs that once, waits a moment and tries again. Threads: any.
  std::optional<Arrival> next();

  // Returns false if a connection with this descriptor would leave too few. Logs that once. May
  // replace the descriptor by a lower one. Threads: any.
  bool has_room_for(net::Fd& fd);

  // Ends next() in all threads, and in all processes that share the listener. Threads: any; may
  // also be called in a signal handler.
  void stop();

  int fd() const { return listener_.fd.get(); }

 private:
  void wait_for_resources(int errno_value);

  const net::Listener listener_;
  const int limit_;       // of descriptors
  const int first_kept_;  // the lowest descriptor that is not for connections
  std::atomic<bool> is_stopped_ = false;
  std::atomic<bool> is_out_of_resources_ = false;  // relaxed: only decides what is logged
  std::atomic<bool> has_told_of_limit_ = false;    // the same
};

// Sends this answer to a connection over the limit and closes it. Never waits for the peer. If
// there is no memory for the answer, it only closes the connection.
void refuse(net::Fd fd, std::string (*answer)());

}  // namespace serve
