#include "http/date.h"

#include <string>

#include "tests/catch.h"

using http::date_text;
using http::parse_date;

namespace {

constexpr std::int64_t kNowIn2026 = 1'790'000'000;  // in 2026

}  // namespace

TEST_CASE("a date is printed", "[http]") {
  CHECK(date_text(784111777).view() == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(date_text(0).view() == "Thu, 01 Jan 1970 00:00:00 GMT");
  CHECK(date_text(-1).view() == "Wed, 31 Dec 1969 23:59:59 GMT");
  CHECK(date_text(951782400).view() == "Tue, 29 Feb 2000 00:00:00 GMT");
}

TEST_CASE("the three forms of a date are read", "[http]") {
  CHECK(parse_date("Sun, 06 Nov 1994 08:49:37 GMT", kNowIn2026) == 784111777);
  CHECK(parse_date("Sunday, 06-Nov-94 08:49:37 GMT", kNowIn2026) == 784111777);
  CHECK(parse_date("Sun Nov  6 08:49:37 1994", kNowIn2026) == 784111777);
  CHECK(parse_date("Sun Nov 16 08:49:37 1994", kNowIn2026) == 784111777 + 864000);
  CHECK(parse_date("Mon, 06 Nov 1994 08:49:37 GMT", kNowIn2026) == 784111777);
}

TEST_CASE("a year of two digits is at most 50 years after now", "[http]") {
  const auto year_of = [](const std::string& year) {
    const auto seconds = parse_date("Sunday, 06-Nov-" + year + " 08:49:37 GMT", kNowIn2026);
    return seconds ? std::string(date_text(*seconds).view().substr(12, 4)) : "none";
  };
  CHECK(year_of("26") == "2026");
  CHECK(year_of("75") == "2075");
  CHECK(year_of("76") == "2076");
  CHECK(year_of("77") == "1977");
  CHECK(year_of("99") == "1999");
  CHECK(year_of("00") == "2000");
}

TEST_CASE("what is printed is read again", "[http]") {
  for (std::int64_t seconds = 0; seconds < 4'000'000'000; seconds += 86'400 * 13 + 12'345)
    REQUIRE(parse_date(date_text(seconds).view(), kNowIn2026) == seconds);
}

TEST_CASE("malformed dates are refused", "[http]") {
  for (const char* text : {"",
                           "Sun",
                           "Sun,",
                           "Sun, ",
                           "now",
                           "784111777",
                           "Sun, 06 Nov 1994 08:49:37",
                           "Sun, 06 Nov 1994 08:49:37 UTC",
                           "Sun, 06 Nov 1994 08:49:37 GMT ",
                           "Sun, 6 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 94 08:49:37 GMT",
                           "Sun, 06 nov 1994 08:49:37 GMT",
                           "sun, 06 Nov 1994 08:49:37 GMT",
                           "Xyz, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 00 Nov 1994 08:49:37 GMT",
                           "Sun, 31 Nov 1994 08:49:37 GMT",
                           "Sun, 29 Feb 1900 08:49:37 GMT",
                           "Sun, 06 Nov 1994 24:49:37 GMT",
                           "Sun, 06 Nov 1994 08:60:37 GMT",
                           "Sun, 06 Nov 1994 08:49:61 GMT",
                           "Sun, 06 Nov 1994 8:49:37 GMT",
                           "Sun, 06-Nov-94 08:49:37 GMT",
                           "Sunday, 06 Nov 1994 08:49:37 GMT",
                           "Sunday, 06-Nov-1994 08:49:37 GMT",
                           "Sun Nov 6 08:49:37 1994",
                           "Sun Nov  6 08:49:37 1994 GMT",
                           "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
                           "Sun, -6 Nov 1994 08:49:37 GMT"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_date(text, kNowIn2026));
  }
}

TEST_CASE("the time of an upload is whole seconds from 1970 on", "[http]") {
  using http::parse_upload_time;
  CHECK(parse_upload_time("1600000000") == 1'600'000'000);
  CHECK(parse_upload_time("0") == 0);
  CHECK(parse_upload_time("1") == 1);
  CHECK(parse_upload_time("00000086401") == 86'401);
  CHECK(parse_upload_time("9223372035") == 9'223'372'035);
  for (const auto* text :
       {"", "-0", "-1", "-1600000000", "+1600000000", "1600000000.5", "1.6e9", "0x5f5e1000",
        "160000000O", "1600000000 1", "9223372036", "99999999999", "9999999999999999999",
        "00000000001600000000", "Sun, 06 Nov 1994 08:49:37 GMT"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_upload_time(text));
  }
}
