// The local addresses from which connections are made.
#pragma once

#include <cstdint>
#include <vector>

#include "net/address.h"

namespace loadgen {

// A connection that the client closes first occupies its local port for a while (TIME_WAIT), and
// one address has only about 28,000 ports. If the server is on 127.0.0.0/8, the client can connect
// from any address of that network, and each address has its own ports.
//
// Immutable once built.
class Sources {
 public:
  static constexpr int kSpread = 64;

  // The system chooses the address of every connection.
  Sources() = default;

  // Connections come from 127.0.0.1, 127.0.0.2, and so on. Requires: 1 <= count <= 254.
  static Sources spread(int count);

  // Returns the address for one connection, or null if the system chooses. `thread` and
  // `connection`, the number of the thread's connection, count from 0. Each thread uses all
  // addresses equally often. The result points into this object.
  const net::SocketAddress* of(int thread, std::int64_t connection) const;

  // The number of addresses; 1 if the system chooses.
  int count() const { return addresses_.empty() ? 1 : static_cast<int>(addresses_.size()); }

 private:
  std::vector<net::SocketAddress> addresses_;
};

}  // namespace loadgen
