// Takes connections from a listener, for any number of threads or processes at once.
#pragma once

#include <atomic>
#include <optional>

#include "net/fd.h"
#include "net/listen.h"

namespace serve {

class Acceptor {
 public:
  explicit Acceptor(net::Listener listener) : listener_(std::move(listener)) {}

  // Any thread. Waits for the next connection; nothing once stop() was called. Out of descriptors
  // or memory: logged once, waits a little, goes on.
  std::optional<net::Fd> next();

  // Any thread, and async-signal-safe. Everybody in next() comes back, in all processes that share
  // the listener.
  void stop();

  int fd() const { return listener_.fd.get(); }

 private:
  void wait_for_resources(int errno_value);

  const net::Listener listener_;
  std::atomic<bool> is_stopped_ =
      false;  // for who is out of descriptors: accept does not get as far as the listener
  std::atomic<bool> is_out_of_resources_ = false;  // relaxed: only decides what is logged
};

// Answers `busy` to a connection over the limit, and closes it, without ever waiting for its peer.
void refuse(net::Fd fd);

}  // namespace serve
