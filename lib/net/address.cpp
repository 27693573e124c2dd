#include "net/address.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <charconv>
#include <cstring>
#include <memory>

namespace net {

namespace {

constexpr std::string_view kUnix = "unix:";

}  // namespace

bool HostPort::is_unix() const { return host.starts_with(kUnix); }

std::string HostPort::unix_path() const { return host.substr(kUnix.size()); }

std::optional<HostPort> parse_host_port_or_unix(std::string_view text) {
  if (!text.starts_with(kUnix)) return parse_host_port(text);
  const std::string_view path = text.substr(kUnix.size());
  if (!path.starts_with('/') || path.size() > kMaxUnixPathBytes) return {};
  return HostPort{std::string(text), 0};
}

std::optional<HostPort> parse_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failure != std::errc() || end != digits.data() + digits.size()) return {};

  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return {};  // an IPv6 address needs its brackets
  }
  if (host.empty() || host.find_first_of(" \t[]") != std::string_view::npos) return {};
  return HostPort{std::string(host), port};
}

std::string to_string(const HostPort& host_port) {
  if (host_port.is_unix()) return host_port.host;
  const bool is_v6 = host_port.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host_port.host + "]" : host_port.host) + ":" +
         std::to_string(host_port.port);
}

bool is_numeric(const std::string& host) {
  if (host.starts_with(kUnix)) return true;
  in6_addr address;
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

SocketAddress::SocketAddress(const sockaddr* address, socklen_t size) : size_(size) {
  std::memcpy(&storage_, address, size);
}

SocketAddress::SocketAddress(std::string_view unix_path) {
  auto& address = reinterpret_cast<sockaddr_un&>(storage_);
  address.sun_family = AF_UNIX;
  unix_path.copy(address.sun_path, kMaxUnixPathBytes);
  size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + unix_path.size() + 1);
}

bool SocketAddress::operator==(const SocketAddress& other) const {
  return size_ == other.size_ && std::memcmp(&storage_, &other.storage_, size_) == 0;
}

std::uint16_t SocketAddress::port() const {
  if (is_unix()) return 0;
  if (family() == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in*>(&storage_)->sin_port);
}

bool SocketAddress::is_loopback_v4() const {
  if (family() != AF_INET) return false;
  return ntohl(reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr.s_addr) >> 24 == 127;
}

bool SocketAddress::is_loopback() const {
  if (family() != AF_INET6) return is_loopback_v4();
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr);
}

SocketAddress SocketAddress::with_port(std::uint16_t port) const {
  SocketAddress other = *this;
  if (family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&other.storage_)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(&other.storage_)->sin_port = htons(port);
  }
  return other;
}

std::string SocketAddress::host() const {
  char host[NI_MAXHOST] =
      "?";  // larger than INET6_ADDRSTRLEN, because of the scope in fe80::1%eth0
  ::getnameinfo(get(), size(), host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  return host;
}

std::string SocketAddress::text() const {
  if (is_unix())
    return std::string(kUnix) + reinterpret_cast<const sockaddr_un*>(&storage_)->sun_path;
  char host[INET6_ADDRSTRLEN] = "?";
  if (family() == AF_INET6) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr, host,
                sizeof host);
  } else {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr, host,
                sizeof host);
  }
  return to_string({host, port()});
}

std::optional<SocketAddress> peer_of(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  return SocketAddress(reinterpret_cast<sockaddr*>(&storage), size);
}

base::Result<std::vector<SocketAddress>> resolve(const HostPort& host_port) {
  if (host_port.is_unix()) return std::vector<SocketAddress>{SocketAddress(host_port.unix_path())};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failure =
      ::getaddrinfo(host_port.host.c_str(), std::to_string(host_port.port).c_str(), &hints, &found);
  if (failure != 0) {
    return base::Error{base::ErrorCode::kUnavailable,
                       "resolve " + host_port.host + ": " + ::gai_strerror(failure)};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (one->ai_family == AF_INET || one->ai_family == AF_INET6)
      addresses.emplace_back(one->ai_addr, one->ai_addrlen);
  }
  if (addresses.empty())
    return base::Error{base::ErrorCode::kUnavailable, "resolve " + host_port.host + ": no address"};
  return addresses;
}

}  // namespace net
