#include "net/ip_range.h"

#include "tests/catch.h"

namespace {

bool contains(const char* range, const char* address) {
  return net::IpRange::parse(range)->contains(*net::parse_ip_address(address));
}

}  // namespace

TEST_CASE("a range contains what begins with the same bits", "[net]") {
  struct Row {
    const char* range;
    const char* inside;
    const char* outside;
  };
  for (const Row& row : {Row{"10.0.0.0/8", "10.255.255.255", "11.0.0.0"},
                         Row{"192.0.2.128/25", "192.0.2.255", "192.0.2.127"},
                         Row{"192.0.2.130/31", "192.0.2.131", "192.0.2.132"},
                         Row{"2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"}}) {
    CAPTURE(row.range);
    CHECK(contains(row.range, row.inside));
    CHECK_FALSE(contains(row.range, row.outside));
  }
}

TEST_CASE("a range without a prefix is one address, and one of no bits is all", "[net]") {
  CHECK(contains("192.0.2.1", "192.0.2.1"));
  CHECK(contains("192.0.2.1", "::ffff:192.0.2.1"));
  CHECK_FALSE(contains("192.0.2.1", "192.0.2.0"));
  CHECK(contains("2001:db8::1/128", "2001:db8::1"));
  CHECK_FALSE(contains("2001:db8::1", "2001:db8::"));
  CHECK(contains("0.0.0.0/0", "203.0.113.9"));
  CHECK_FALSE(contains("0.0.0.0/0", "2001:db8::1"));
  CHECK(contains("::/0", "2001:db8::1"));
}

TEST_CASE("bits behind the prefix are passed over", "[net]") {
  CHECK(contains("10.1.2.3/8", "10.9.9.9"));
  CHECK(contains("2001:db8::1/32", "2001:db8:ffff::"));
}
