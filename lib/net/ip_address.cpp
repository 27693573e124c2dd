#include "net/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace net {

namespace {

// What an IPv4 address begins with in its mapped form.
constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

IpAddress::IpAddress(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    std::copy(kMapped.begin(), kMapped.end(), bytes_.begin());
    std::memcpy(bytes_.data() + kMapped.size(), &v4.sin_addr, sizeof v4.sin_addr);
  } else if (address.sa_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    std::memcpy(bytes_.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
  }
}

bool IpAddress::is_v4() const { return std::equal(kMapped.begin(), kMapped.end(), bytes_.begin()); }

bool IpAddress::is_loopback() const {
  constexpr Bytes kLoopbackV6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  constexpr std::uint8_t kLoopbackV4 = 127;
  return is_v4() ? bytes_[kMapped.size()] == kLoopbackV4 : bytes_ == kLoopbackV6;
}

std::string IpAddress::text() const {
  if (*this == IpAddress()) return "unix";
  char text[INET6_ADDRSTRLEN] = "?";
  if (is_v4()) {
    ::inet_ntop(AF_INET, bytes_.data() + kMapped.size(), text, sizeof text);
  } else {
    ::inet_ntop(AF_INET6, bytes_.data(), text, sizeof text);
  }
  return text;
}

std::optional<IpAddress> parse_ip_address(std::string_view text) {
  char terminated[INET6_ADDRSTRLEN] = {};
  if (text.size() >= sizeof terminated || text.find('\0') != std::string_view::npos) return {};
  text.copy(terminated, text.size());
  sockaddr_storage storage{};
  auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
  if (::inet_pton(AF_INET, terminated, &v4.sin_addr) == 1) {
    storage.ss_family = AF_INET;
  } else if (::inet_pton(AF_INET6, terminated, &v6.sin6_addr) == 1) {
    storage.ss_family = AF_INET6;
  } else {
    return {};
  }
  return IpAddress(reinterpret_cast<const sockaddr&>(storage));
}

}  // namespace net
