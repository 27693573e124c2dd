#include "net/address.h"

#include "tests/catch.h"

TEST_CASE("HOST:PORT is read and printed", "[net]") {
  for (const char* text :
       {"127.0.0.1:9000", "localhost:0", "[::1]:65535", "auth-server.example:1"}) {
    CAPTURE(text);
    const auto parsed = net::parse_host_port(text);
    REQUIRE(parsed);
    CHECK(net::to_string(*parsed) == text);
  }
}

TEST_CASE("a text that is not HOST:PORT is refused", "[net]") {
  for (const char* text : {"", ":", ":80", "host", "host:", "host:x", "host:65536", "host:-1",
                           "host:80x", "::1:80", "[::1]", "a b:80", "[]:80"}) {
    CAPTURE(text);
    CHECK_FALSE(net::parse_host_port(text));
  }
}

TEST_CASE("a numeric host is resolved to itself", "[net]") {
  const auto addresses = net::resolve({"127.0.0.5", 80});
  REQUIRE(addresses);
  REQUIRE(addresses->size() == 1);
  CHECK(addresses->front().text() == "127.0.0.5:80");
  CHECK(addresses->front().is_loopback_v4());
}

TEST_CASE("an address knows whether it is of this host", "[net]") {
  const auto address = [](const char* host) { return net::resolve({host, 80})->front(); };
  CHECK(address("127.0.0.5").is_loopback());
  CHECK(address("::1").is_loopback());
  CHECK_FALSE(address("::1").is_loopback_v4());
  for (const char* const host : {"192.0.2.1", "2001:db8::1", "::"})
    CHECK_FALSE(address(host).is_loopback());
  CHECK_FALSE(net::SocketAddress("/run/a.sock").is_loopback());
}

TEST_CASE("a host without an address is unavailable", "[net]") {
  const auto addresses = net::resolve({"no such host", 80});
  REQUIRE_FALSE(addresses);
  CHECK(addresses.error().code == base::ErrorCode::kUnavailable);
}

TEST_CASE("addresses are told from names", "[net]") {
  for (const char* const host : {"127.0.0.1", "::1", "0.0.0.0"}) CHECK(net::is_numeric(host));
  for (const char* const host : {"localhost", "127.0.0.1.example", "1.2.3", ""})
    CHECK_FALSE(net::is_numeric(host));
}

TEST_CASE("unix:PATH is a Unix-domain socket", "[net]") {
  const auto parsed = net::parse_host_port_or_unix("unix:/run/a b.sock");
  REQUIRE(parsed);
  CHECK(parsed->is_unix());
  CHECK(parsed->unix_path() == "/run/a b.sock");
  CHECK(net::to_string(*parsed) == "unix:/run/a b.sock");
  CHECK(net::is_numeric(parsed->host));
  const auto addresses = net::resolve(*parsed);
  REQUIRE(addresses);
  CHECK(addresses->front().text() == "unix:/run/a b.sock");
  CHECK(addresses->front() == net::SocketAddress("/run/a b.sock"));
  CHECK_FALSE(addresses->front() == net::SocketAddress("/run/a b.sockets"));
}

TEST_CASE("a path of a socket is absolute and not too long", "[net]") {
  const std::string longest = "/" + std::string(net::kMaxUnixPathBytes - 1, 'a');
  CHECK(net::parse_host_port_or_unix("unix:" + longest));
  for (const std::string& text :
       {"unix:" + longest + "a", std::string("unix:"), std::string("unix:a"), std::string("/a")}) {
    CAPTURE(text);
    CHECK_FALSE(net::parse_host_port_or_unix(text));
  }
  CHECK(net::parse_host_port_or_unix("127.0.0.1:9000"));
  CHECK_FALSE(net::parse_host_port("unix:/run/a"));
}
