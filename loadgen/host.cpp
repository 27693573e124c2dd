#include "loadgen/host.h"

#include "base/host.h"

namespace loadgen {

EphemeralPorts ephemeral_ports(bool is_loopback) {
  auto range = base::numbers_in("/proc/sys/net/ipv4/ip_local_port_range");
  if (range.size() < 2) range = {32768, 60999};
  const std::int64_t reuse = base::number_in("/proc/sys/net/ipv4/tcp_tw_reuse", 0);
  const bool is_reused = reuse == 1 || (reuse == 2 && is_loopback);
  return {static_cast<int>(range[1] - range[0] + 1), is_reused ? 1 : kTimeWaitS};
}

ConnectionTracking connection_tracking() {
  return {base::number_in("/proc/sys/net/netfilter/nf_conntrack_count", 0),
          base::number_in("/proc/sys/net/netfilter/nf_conntrack_max", 0)};
}

}  // namespace loadgen
