#include "base/units.h"

#include "tests/catch.h"

using base::parse_seconds_as_ms;
using base::parse_size_bytes;

TEST_CASE("a size is bytes, or has one of three units", "[base]") {
  CHECK(parse_size_bytes("0") == 0);
  CHECK(parse_size_bytes("4096") == 4096);
  CHECK(parse_size_bytes("1K") == 1024);
  CHECK(parse_size_bytes("512M") == 512LL << 20);
  CHECK(parse_size_bytes("2G") == 2LL << 30);
}

TEST_CASE("a text that is not a size is refused", "[base]") {
  for (const char* text :
       {"", "K", "-1", "-1K", "1k", "1KB", "1.5G", " 1", "1 ", "0x10", "1e3", "+1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_size_bytes(text));
  }
}

TEST_CASE("a size that does not fit is refused", "[base]") {
  CHECK(parse_size_bytes("9223372036854775807") == INT64_MAX);
  CHECK_FALSE(parse_size_bytes("9223372036854775808"));
  CHECK(parse_size_bytes("8589934591G") == 8589934591LL << 30);
  CHECK_FALSE(parse_size_bytes("8589934592G"));
}

TEST_CASE("seconds may have a fraction", "[base]") {
  CHECK(parse_seconds_as_ms("0") == 0);
  CHECK(parse_seconds_as_ms("60") == 60'000);
  CHECK(parse_seconds_as_ms("0.25") == 250);
  CHECK(parse_seconds_as_ms("0.0001") == 1);
}

TEST_CASE("a text that is not a time is refused", "[base]") {
  for (const char* text :
       {"", "-1", "1s", "inf", "nan", "1e3", "0x1", ".", "1.2.3", " 1", "99999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_seconds_as_ms(text));
  }
}

TEST_CASE("a size for people is in the largest unit that fits", "[base]") {
  CHECK(base::human_bytes(999) == "999 B");
  CHECK(base::human_bytes(1000) == "1.0 KB");
  CHECK(base::human_bytes(1.5e9) == "1.5 GB");
}
