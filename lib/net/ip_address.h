// An IP address without a port: who a peer is.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace net {

// One IPv4 or IPv6 address, as 16 bytes. An IPv4 address and the same address mapped into IPv6
// ("::ffff:192.0.2.1") are equal. It owns nothing, so it can be copied into shared memory.
class IpAddress {
 public:
  using Bytes = std::array<std::uint8_t, 16>;

  // The unspecified address "::", which no peer on TCP has. It stands for all peers on Unix-domain
  // sockets.
  IpAddress() = default;

  // Takes the address out of a sockaddr_in or sockaddr_in6. Any other family gives "::".
  explicit IpAddress(const sockaddr& address);

  bool is_v4() const;

  // Whether only this machine has it: an address of 127.0.0.0/8, or ::1.
  bool is_loopback() const;

  // In the order of the network. An IPv4 address is in its mapped form.
  const Bytes& bytes() const { return bytes_; }

  // Makes the numeric form, such as "192.0.2.1" or "2001:db8::1". It is "unix" for the unspecified
  // address.
  std::string text() const;

  bool operator==(const IpAddress&) const = default;

 private:
  Bytes bytes_{};
};

// Reads the numeric form, such as "192.0.2.1" or "2001:db8::1". Returns nothing for any other text.
std::optional<IpAddress> parse_ip_address(std::string_view text);

}  // namespace net
