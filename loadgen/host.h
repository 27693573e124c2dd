// What the host says about the limits that a run can meet.
#pragma once

#include <cstdint>

namespace loadgen {

// Linux keeps the port of a connection that it closed first for this long (TIME_WAIT) ...
inline constexpr int kTimeWaitS = 60;

struct EphemeralPorts {
  int count = 0;  // for each local address
  int held_s =
      0;  // how long one cannot be used again: kTimeWaitS, or 1 where net.ipv4.tcp_tw_reuse allows
};
EphemeralPorts ephemeral_ports(bool is_loopback);

// Docker's rules turn on connection tracking for the whole host; when its table is full, packets
// are dropped.
struct ConnectionTracking {
  std::int64_t entries = 0;
  std::int64_t limit = 0;  // 0: not there

  bool is_near_full() const { return limit > 0 && entries > limit * 8 / 10; }
};
ConnectionTracking connection_tracking();

}  // namespace loadgen
