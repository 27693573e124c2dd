// The local addresses that connections come from.
#pragma once

#include <cstdint>
#include <vector>

#include "net/address.h"

namespace loadgen {

// Every connection that its client closes keeps a port of one address for a while. Against a server
// on 127.0.0.0/8 a client may come from any other address of it, each with ports of its own.
//
// Immutable once built.
class Sources {
 public:
  static constexpr int kSpread = 64;

  // The system's choice for every connection.
  Sources() = default;

  // 127.0.0.1, 127.0.0.2, ... Requires: 1 <= count <= 254.
  static Sources spread(int count);

  // The address for a thread's connection number `connection`, both from 0; null for the system's
  // choice. All threads together use all addresses evenly.
  const net::SocketAddress* of(int thread, std::int64_t connection) const;

  // At least 1.
  int count() const { return addresses_.empty() ? 1 : static_cast<int>(addresses_.size()); }

 private:
  std::vector<net::SocketAddress> addresses_;
};

}  // namespace loadgen
