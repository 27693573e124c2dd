#include "serve/encrypted.h"

#include <optional>
#include <vector>

#include "tests/catch.h"

namespace {

net::IpAddress address(const char* text) { return net::parse_ip_address(text).value(); }

}  // namespace

TEST_CASE("an address has at most a quarter of the handshakes", "[serve]") {
  serve::Handshakes handshakes(40);
  const auto one = address("192.0.2.1");
  for (int i = 0; i < 10; ++i) REQUIRE(handshakes.begin(one));
  CHECK_FALSE(handshakes.begin(one));
  const auto group = handshakes.begin(address("192.0.2.2"));
  REQUIRE(group);
  handshakes.end(*group);
  CHECK_FALSE(handshakes.begin(one));
}

TEST_CASE("one handshake may always be under way", "[serve]") {
  serve::Handshakes handshakes(1);
  const auto one = address("192.0.2.1");
  const auto group = handshakes.begin(one);
  REQUIRE(group);
  CHECK_FALSE(handshakes.begin(one));
  CHECK_FALSE(handshakes.begin(address("192.0.2.2")));
  handshakes.end(*group);
  CHECK(handshakes.begin(address("192.0.2.2")));
}
