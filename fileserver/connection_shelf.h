// Where idle connections wait to be lent out again.
#pragma once

#include <array>
#include <atomic>

#include "net/fd.h"

namespace fileserver {

// Any thread, without a lock: each place is one atomic descriptor that is exchanged for another or
// for none. Places are tried from the first, so the connection that was used last is used next, and
// one that nobody needs grows old in the back and is closed by the other side.
class ConnectionShelf {
 public:
  ConnectionShelf() {
    for (auto& place : places_) place = kEmpty;
  }
  ~ConnectionShelf() {
    while (take().is_open()) {
    }
  }
  ConnectionShelf(const ConnectionShelf&) = delete;
  ConnectionShelf& operator=(const ConnectionShelf&) = delete;

  // One that is not open when the shelf is empty.
  net::Fd take() {
    for (auto& place : places_) {
      if (place.load(std::memory_order_relaxed) == kEmpty) continue;
      const int fd = place.exchange(kEmpty, std::memory_order_acquire);
      if (fd != kEmpty) return net::Fd(fd);
    }
    return {};
  }

  // Closes it when the shelf is full.
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
