// Who the client is when a proxy stands in front of the HTTP front (--trusted-proxy).
#pragma once

#include <atomic>
#include <optional>
#include <string_view>
#include <vector>

#include "net/address.h"
#include "net/ip_address.h"
#include "net/ip_range.h"

namespace fileserver {

// The addresses from which X-Forwarded-For is believed. Empty: it is believed from nobody.
using TrustedProxies = std::vector<net::IpRange>;

// Reads ranges with commas between them. `unix` stands for all peers on Unix-domain sockets.
// Nothing if one of them is not acceptable.
std::optional<TrustedProxies> parse_trusted_proxies(std::string_view text);

// Whether X-Forwarded-For is believed from this peer.
bool is_trusted_proxy(const TrustedProxies& proxies, const net::IpAddress& peer);

// Finds the client of one request. Each proxy appends the address of its peer to X-Forwarded-For.
// So the list is read from its end, as long as the addresses are those of trusted proxies. The
// client is the first address that is not, or the last one of the list. An entry that is no address
// ends the list there: the client is the address behind it. Whatever a client sends itself stands
// in front of what a trusted proxy has appended, so nobody can take another address.
//
// An entry may have a port, "192.0.2.1:1234" or "[2001:db8::1]:1234". One thread; allocates
// nothing.
class ForwardedFor {
 public:
  // `trusted` must outlive it.
  explicit ForwardedFor(const TrustedProxies& trusted) : trusted_(trusted) {}

  // Takes the value of a field X-Forwarded-For. If there are several, they are one list, in order.
  void take(std::string_view value);

  // The client. `peer` is the other end of the connection.
  net::IpAddress client(const net::IpAddress& peer) const;

 private:
  bool is_trusted(const net::IpAddress& address) const {
    return is_trusted_proxy(trusted_, address);
  }
  void take_entry(const std::optional<net::IpAddress>& entry);

  const TrustedProxies& trusted_;
  std::optional<net::IpAddress> found_;  // the client, if all addresses from here on are trusted
};

// Tells once of a proxy that --trusted-proxy does not name. All its clients share its address, so
// one of them who guesses passwords locks out the others. Any thread.
class UnnamedProxy {
 public:
  // A request with X-Forwarded-For came from this peer. Logs a warning if the peer is not trusted
  // and there was none before.
  void note(const TrustedProxies& trusted, const net::IpAddress& peer);

 private:
  std::atomic<bool> is_told_ = false;  // relaxed: nothing else goes by it
};

// Whether passwords cross a network readable: the HTTP front listens on an address that is not
// loopback, and no proxy that encrypts is announced.
bool are_passwords_readable(const net::HostPort& http_listen, const TrustedProxies& trusted);

}  // namespace fileserver
