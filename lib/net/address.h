// HOST:PORT, the path of a Unix-domain socket, and the socket addresses that they stand for.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace net {

// A host, or a Unix-domain socket of this machine. Then `host` is "unix:" and the socket's absolute
// path, and the port is 0.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;

  bool is_unix() const;

  // Requires: is_unix().
  std::string unix_path() const;
};

// The longest path of a Unix-domain socket, in bytes.
inline constexpr std::size_t kMaxUnixPathBytes = sizeof(sockaddr_un::sun_path) - 1;

// Reads "127.0.0.1:9000", "localhost:0" or "[::1]:9000". Returns nothing for any other text.
std::optional<HostPort> parse_host_port(std::string_view text);

// Reads "unix:/run/auth.sock" too. Returns nothing if the path is too long or not absolute.
std::optional<HostPort> parse_host_port_or_unix(std::string_view text);

// Returns the text that parse_host_port_or_unix() reads.
std::string to_string(const HostPort& host_port);

// Whether the host is an IPv4 or IPv6 address or a Unix-domain socket, so that no name has to be
// looked up.
bool is_numeric(const std::string& host);

// One IPv4 or IPv6 address with a port, or a Unix-domain socket.
class SocketAddress {
 public:
  SocketAddress(const sockaddr* address, socklen_t size);

  // The Unix-domain socket with this path. Requires: path.size() <= kMaxUnixPathBytes.
  explicit SocketAddress(std::string_view unix_path);

  bool is_unix() const { return family() == AF_UNIX; }

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }
  int family() const { return storage_.ss_family; }
  std::uint16_t port() const;
  bool is_loopback_v4() const;

  // On 127.0.0.0/8, or ::1.
  bool is_loopback() const;

  // The same host with another port. Requires: !is_unix().
  SocketAddress with_port(std::uint16_t port) const;

  // Returns the address without its port, in numeric form, such as "127.0.0.1".
  std::string host() const;

  // Returns the numeric form, such as "127.0.0.1:9000", or "unix:" and the path.
  std::string text() const;

  bool operator==(const SocketAddress& other) const;

 private:
  sockaddr_storage storage_{};
  socklen_t size_;
};

// The address at the other end of a connected socket. Nothing when it is not connected any more.
std::optional<SocketAddress> peer_of(int fd);

// Returns all addresses of a host, at least one; kUnavailable if it has none now. It may ask a name
// server and wait for its answer, except for a numeric host.
base::Result<std::vector<SocketAddress>> resolve(const HostPort& host_port);

}  // namespace net
