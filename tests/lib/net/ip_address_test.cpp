#include "net/ip_address.h"

#include "net/address.h"
#include "tests/catch.h"

namespace {

net::IpAddress ip_of(const std::string& host) {
  return net::IpAddress(*net::resolve({host, 80})->front().get());
}

}  // namespace

TEST_CASE("an IP address is printed without its port", "[net]") {
  for (const char* text : {"192.0.2.1", "255.255.255.255", "::1", "2001:db8::a:0:1", "fe80::1"}) {
    CAPTURE(text);
    CHECK(ip_of(text).text() == text);
  }
}

TEST_CASE("an IPv4 address that is mapped into IPv6 is that IPv4 address", "[net]") {
  CHECK(ip_of("::ffff:192.0.2.1") == ip_of("192.0.2.1"));
  CHECK(ip_of("::ffff:192.0.2.1").text() == "192.0.2.1");
  CHECK(ip_of("::ffff:192.0.2.1").is_v4());
  CHECK_FALSE(ip_of("::fffe:192.0.2.1").is_v4());
  CHECK_FALSE(ip_of("::ffff:192.0.2.1") == ip_of("192.0.2.2"));
}

TEST_CASE("an address of loopback is known in all its forms", "[net]") {
  for (const char* text : {"127.0.0.1", "127.255.0.1", "::ffff:127.0.0.1", "::1"}) {
    CAPTURE(text);
    CHECK(ip_of(text).is_loopback());
  }
  for (const char* text : {"128.0.0.1", "1.0.0.127", "::2", "1::1", "::fffe:127.0.0.1"}) {
    CAPTURE(text);
    CHECK_FALSE(ip_of(text).is_loopback());
  }
  CHECK_FALSE(net::IpAddress().is_loopback());
}

TEST_CASE("an address of another family is the unspecified one", "[net]") {
  sockaddr other{};
  other.sa_family = AF_UNIX;
  CHECK(net::IpAddress(other) == net::IpAddress());
  CHECK(net::IpAddress().text() == "unix");
  CHECK_FALSE(net::IpAddress().is_v4());
}
