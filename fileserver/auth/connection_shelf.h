// Keeps idle connections to the authserver until the next request needs one.
#pragma once

#include <array>
#include <atomic>

#include "net/fd.h"
#include "net/socket_io.h"

namespace fileserver {

// Any thread, without a lock. The shelf has 128 places; each is one atomic descriptor, which is
// exchanged for another one or for none.
//
// Places are tried from the first on, so the same few connections are used again and again. A
// connection in one of the last places stays idle until the other side closes it.
//
// The caller owns a connection from take() to put().
class ConnectionShelf {
 public:
  ConnectionShelf() {
    for (auto& place : places_) place = kEmpty;
  }
  ~ConnectionShelf() { clear(); }
  ConnectionShelf(const ConnectionShelf&) = delete;
  ConnectionShelf& operator=(const ConnectionShelf&) = delete;

  // An idle connection; the peer may have closed it. When the shelf is empty, the Fd is not open.
  net::Fd take() {
    for (auto& place : places_) {
      if (place.load(std::memory_order_relaxed) == kEmpty) continue;
      const int fd = place.exchange(kEmpty, std::memory_order_acquire);
      if (fd != kEmpty) return net::Fd(fd);
    }
    return {};
  }

  // The same, without those that cannot be used again. The authserver may have closed an idle
  // connection; after a restart it has closed all of them. Bytes that arrived unasked must not be
  // taken for an answer. The check costs one system call.
  net::Fd take_quiet() {
    net::Fd fd = take();
    while (fd.is_open() && !net::is_quiet_and_open(fd.get())) fd = take();
    return fd;
  }

  // Closes the idle connections.
  void clear() {
    while (take().is_open()) {
    }
  }

  // Keeps the connection, or closes it when the shelf is full. Requires: no reply is outstanding.
  void put(net::Fd fd) {
    for (auto& place : places_) {
      int expected = kEmpty;
      if (place.load(std::memory_order_relaxed) != kEmpty) continue;
      if (place.compare_exchange_strong(expected, fd.get(), std::memory_order_release)) {
        fd.release();
        return;
      }
    }
  }

 private:
  static constexpr int kEmpty = -1;
  static constexpr std::size_t kPlaces = 128;

  std::array<std::atomic<int>, kPlaces> places_;
};

}  // namespace fileserver
