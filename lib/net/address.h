// HOST:PORT, and the socket addresses that it stands for.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace net {

struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};

// "127.0.0.1:9000", "localhost:0", "[::1]:9000". Nothing for anything else.
std::optional<HostPort> parse_host_port(std::string_view text);

// The same form back.
std::string to_string(const HostPort& host_port);

// One IPv4 or IPv6 address with its port.
class SocketAddress {
 public:
  SocketAddress(const sockaddr* address, socklen_t size);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }
  int family() const { return storage_.ss_family; }
  std::uint16_t port() const;
  bool is_loopback_v4() const;

  // "127.0.0.1:9000"
  std::string text() const;

  bool operator==(const SocketAddress& other) const;

 private:
  sockaddr_storage storage_{};
  socklen_t size_;
};

// The address at the other end of a connected socket. Nothing when it is not connected any more.
std::optional<SocketAddress> peer_of(int fd);

// All addresses of a name, at least one. kUnavailable when it has none now. May ask a name server;
// a numeric host never does.
base::Result<std::vector<SocketAddress>> resolve(const HostPort& host_port);

}  // namespace net
