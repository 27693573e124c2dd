#include "fileserver/trusted_proxy.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"

using fileserver::ForwardedFor;

namespace {

// The client of a request from `peer` with these fields. 10.0.0.0/8 and fd00::/8 are trusted.
std::string client_of(const std::string& peer, const std::vector<std::string>& fields) {
  const auto trusted = fileserver::parse_trusted_proxies("10.0.0.0/8, fd00::/8");
  ForwardedFor forwarded(*trusted);
  for (const std::string& field : fields) forwarded.take(field);
  return forwarded.client(*net::parse_ip_address(peer)).text();
}

}  // namespace

TEST_CASE("a proxy that is not trusted is the client itself", "[trusted_proxy]") {
  for (const char* peer : {"192.0.2.1", "11.0.0.1", "9.255.255.255", "::1", "2001:db8::1"}) {
    CHECK(client_of(peer, {"198.51.100.7"}) == peer);
    CHECK(client_of(peer, {"198.51.100.7, 10.0.0.1"}) == peer);
    CHECK(client_of(peer, {}) == peer);
  }
}

TEST_CASE("without trusted proxies the peer is the client", "[trusted_proxy]") {
  const fileserver::TrustedProxies nobody;
  ForwardedFor forwarded(nobody);
  forwarded.take("198.51.100.7");
  CHECK(forwarded.client(*net::parse_ip_address("10.0.0.1")).text() == "10.0.0.1");
}

TEST_CASE("peers on Unix-domain sockets are trusted by the word unix only", "[trusted_proxy]") {
  const net::IpAddress peer;
  for (const auto& [trusted, client] : {std::pair{"unix", "198.51.100.7"},
                                        {"10.0.0.1, unix", "198.51.100.7"},
                                        {"10.0.0.1", "unix"}}) {
    const auto proxies = fileserver::parse_trusted_proxies(trusted);
    ForwardedFor forwarded(*proxies);
    forwarded.take("198.51.100.7");
    CHECK(forwarded.client(peer).text() == client);
  }
  CHECK_FALSE(fileserver::parse_trusted_proxies("Unix"));
  CHECK_FALSE(fileserver::parse_trusted_proxies("unix:/run/x"));
}

TEST_CASE("the client is the last address that no trusted proxy has", "[trusted_proxy]") {
  CHECK(client_of("10.0.0.1", {"198.51.100.7"}) == "198.51.100.7");
  CHECK(client_of("10.0.0.1", {"198.51.100.7, 10.0.0.2"}) == "198.51.100.7");
  CHECK(client_of("10.0.0.1", {"203.0.113.9, 198.51.100.7, 10.0.0.2,10.0.0.3"}) == "198.51.100.7");
  CHECK(client_of("10.0.0.1", {"10.0.0.9, 198.51.100.7"}) == "198.51.100.7");
  CHECK(client_of("fd00::1", {"2001:db8::7\t,\tfd12::3"}) == "2001:db8::7");
  CHECK(client_of("10.0.0.1", {"::ffff:198.51.100.7"}) == "198.51.100.7");
  CHECK(client_of("::ffff:10.0.0.1", {"198.51.100.7"}) == "198.51.100.7");
}

TEST_CASE("a client with the address of a proxy is the first one of the list", "[trusted_proxy]") {
  CHECK(client_of("10.0.0.1", {}) == "10.0.0.1");
  CHECK(client_of("10.0.0.1", {"10.0.0.2"}) == "10.0.0.2");
  CHECK(client_of("10.0.0.1", {"10.0.0.2, 10.0.0.3, fd00::4"}) == "10.0.0.2");
}

TEST_CASE("several fields are one list in their order", "[trusted_proxy]") {
  CHECK(client_of("10.0.0.1", {"203.0.113.9", "198.51.100.7"}) == "198.51.100.7");
  CHECK(client_of("10.0.0.1", {"198.51.100.7", "10.0.0.2"}) == "198.51.100.7");
  CHECK(client_of("10.0.0.1", {"198.51.100.7, x", "10.0.0.2, 10.0.0.3"}) == "10.0.0.2");
}

TEST_CASE("an entry that is no address ends the list behind it", "[trusted_proxy]") {
  for (const std::string bad : {"unknown",
                                "",
                                " ",
                                "x",
                                "1.2.3",
                                "1.2.3.256",
                                "01.2.3.4",
                                "1.2.3.4.5",
                                "1.2.3.4/8",
                                "::",
                                "0.0.0.0",
                                "[::1",
                                "::1]",
                                "[::1]x",
                                "[::1]:",
                                "[::1]:x",
                                "[]",
                                "1.2.3.4:",
                                "1.2.3.4:x",
                                "1.2.3.4:123456",
                                "1.2.3.4 5.6.7.8",
                                "\"1.2.3.4\"",
                                "for=1.2.3.4",
                                "localhost",
                                "_hidden",
                                "fe80::1%eth0",
                                "12345678901234567890123456789012345678901234567890"}) {
    CAPTURE(bad);
    CHECK(client_of("10.0.0.1", {bad}) == "10.0.0.1");
    CHECK(client_of("10.0.0.1", {"198.51.100.7, " + bad}) == "10.0.0.1");
    CHECK(client_of("10.0.0.1", {"198.51.100.7, " + bad + ", 10.0.0.2"}) == "10.0.0.2");
    CHECK(client_of("10.0.0.1", {"198.51.100.7, " + bad + ", 10.0.0.3, 10.0.0.2"}) == "10.0.0.3");
    CHECK(client_of("10.0.0.1", {bad + ", 203.0.113.9, 10.0.0.2"}) == "203.0.113.9");
  }
  CHECK(client_of("10.0.0.1", {std::string("198.51.100.7\0", 13)}) == "10.0.0.1");
  CHECK(client_of("10.0.0.1", {std::string(16'000, ',')}) == "10.0.0.1");
}

TEST_CASE("an entry may have a port", "[trusted_proxy]") {
  CHECK(client_of("10.0.0.1", {"198.51.100.7:1234, 10.0.0.2:80"}) == "198.51.100.7");
  CHECK(client_of("10.0.0.1", {"[2001:db8::7]:1234"}) == "2001:db8::7");
  CHECK(client_of("10.0.0.1", {"[2001:db8::7]"}) == "2001:db8::7");
}

TEST_CASE("trusted proxies are ranges with commas between them", "[trusted_proxy]") {
  for (const char* good :
       {"10.0.0.1", "10.0.0.0/8", "::1", "fd00::/8,10.0.0.0/8", " ::/0 , 1.2.3.4"})
    CHECK(fileserver::parse_trusted_proxies(good));
  for (const char* bad : {"", ",", "10.0.0.1,", ",10.0.0.1", "10.0.0.0/33", "fd00::/129", "10.0/8",
                          "localhost", "10.0.0.0/8/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8"}) {
    CAPTURE(bad);
    CHECK_FALSE(fileserver::parse_trusted_proxies(bad));
  }
}

TEST_CASE("passwords are readable except on loopback and behind a proxy", "[trusted_proxy]") {
  const auto proxies = *fileserver::parse_trusted_proxies("192.0.2.1");
  for (const char* host : {"127.0.0.1", "127.8.9.1", "::1", "localhost"})
    CHECK_FALSE(fileserver::are_passwords_readable({host, 80}, {}));
  for (const char* host : {"0.0.0.0", "::", "192.0.2.1", "2001:db8::1", "files.example.com"}) {
    CHECK(fileserver::are_passwords_readable({host, 80}, {}));
    CHECK_FALSE(fileserver::are_passwords_readable({host, 80}, proxies));
  }
}
