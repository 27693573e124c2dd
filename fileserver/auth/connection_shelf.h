// Keeps idle connections to the authserver until the next request needs one.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include "net/fd.h"
#include "tls/socket.h"

namespace fileserver {

// Any thread, without a lock. The shelf has 128 places. Each has an atomic descriptor, which says
// whether the place is empty, or somebody is at it; nobody waits for that one.
//
// Places are tried from the first on, so the same few connections are used again and again. A
// connection in one of the last places stays idle until the other side closes it.
//
// The caller owns a connection from take() to put().
class ConnectionShelf {
 public:
  ConnectionShelf() = default;
  ~ConnectionShelf() { clear(); }
  ConnectionShelf(const ConnectionShelf&) = delete;
  ConnectionShelf& operator=(const ConnectionShelf&) = delete;

  // An idle connection; the peer may have closed it. When the shelf is empty, it is not open.
  tls::Socket take() {
    for (Place& place : places_) {
      int fd = place.fd.load(std::memory_order_relaxed);
      if (fd < 0) continue;
      if (!place.fd.compare_exchange_strong(fd, kBusy, std::memory_order_acquire)) continue;
      tls::Socket taken(net::Fd(fd), std::move(place.channel));
      place.fd.store(kEmpty, std::memory_order_release);
      return taken;
    }
    return {};
  }

  // The same, without those that cannot be used again. The authserver may have closed an idle
  // connection; after a restart it has closed all of them. Bytes that arrived unasked must not be
  // taken for an answer. The check costs one system call.
  tls::Socket take_quiet() {
    tls::Socket taken = take();
    while (taken.is_open() && !taken.is_quiet_and_open()) taken = take();
    return taken;
  }

  // Closes the idle connections.
  void clear() {
    while (take().is_open()) {
    }
  }

  // Keeps the connection, or closes it when the shelf is full. Requires: no reply is outstanding.
  void put(tls::Socket socket) {
    for (Place& place : places_) {
      int expected = kEmpty;
      if (place.fd.load(std::memory_order_relaxed) != kEmpty) continue;
      if (place.fd.compare_exchange_strong(expected, kBusy, std::memory_order_acquire)) {
        place.channel = socket.release_channel();
        place.fd.store(socket.release_fd().release(), std::memory_order_release);
        return;
      }
    }
  }

 private:
  static constexpr int kEmpty = -1;
  static constexpr int kBusy = -2;
  static constexpr std::size_t kPlaces = 128;

  struct Place {
    std::atomic<int> fd = kEmpty;
    std::unique_ptr<tls::Channel> channel = {};  // of whoever has made `fd` kBusy
  };

  std::array<Place, kPlaces> places_;
};

}  // namespace fileserver
