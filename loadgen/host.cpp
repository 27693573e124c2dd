#include "loadgen/host.h"

#include <fstream>

namespace loadgen {

namespace {

std::int64_t number_in(const char* path, std::int64_t otherwise) {
  std::int64_t number = 0;
  return std::ifstream(path) >> number ? number : otherwise;
}

}  // namespace

EphemeralPorts ephemeral_ports(bool is_loopback) {
  int first = 32768;
  int last = 60999;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first >> last;
  const std::int64_t reuse = number_in("/proc/sys/net/ipv4/tcp_tw_reuse", 0);
  const bool is_reused = reuse == 1 || (reuse == 2 && is_loopback);
  return {last - first + 1, is_reused ? 1 : kTimeWaitS};
}

ConnectionTracking connection_tracking() {
  return {number_in("/proc/sys/net/netfilter/nf_conntrack_count", 0),
          number_in("/proc/sys/net/netfilter/nf_conntrack_max", 0)};
}

}  // namespace loadgen
