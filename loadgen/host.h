// Limits of the host that a run can reach.
#pragma once

#include <cstdint>

namespace loadgen {

// Linux keeps the port of a connection that this side closed first for so long (TIME_WAIT).
inline constexpr int kTimeWaitS = 60;

struct EphemeralPorts {
  int count = 0;  // per local address

  // How long a port cannot be used again: kTimeWaitS, or 1 if net.ipv4.tcp_tw_reuse allows it.
  int held_s = 0;
};

// Reads the ports that the system chooses from for outgoing connections. `is_loopback`: the server
// is on 127.0.0.0/8 or ::1, for which the default of net.ipv4.tcp_tw_reuse allows early reuse.
EphemeralPorts ephemeral_ports(bool is_loopback);

// The kernel's table of tracked connections. Docker's firewall rules turn tracking on for the whole
// host. When the table is full, the kernel drops packets of new connections.
struct ConnectionTracking {
  std::int64_t entries = 0;
  std::int64_t limit = 0;  // 0: connections are not tracked

  // Whether over 80% of the table is used.
  bool is_near_full() const { return limit > 0 && entries > limit * 8 / 10; }
};
ConnectionTracking connection_tracking();

}  // namespace loadgen
