#include "http/basic.h"

#include <array>
#include <string>
#include <string_view>

#include "tests/catch.h"

using namespace std::string_view_literals;

namespace {

std::string decoded(std::string_view text) {
  std::array<char, 64> out{};
  const auto size = http::decode_base64(text, out);
  return size ? std::string(out.data(), *size) : "malformed";
}

}  // namespace

TEST_CASE("base64 is decoded", "[http]") {
  CHECK(decoded("").empty());
  CHECK(decoded("Zg==") == "f");
  CHECK(decoded("Zm8=") == "fo");
  CHECK(decoded("Zm9v") == "foo");
  CHECK(decoded("Zm9vYg==") == "foob");
  CHECK(decoded("AAAA") == "\0\0\0"sv);
  CHECK(decoded("+/9/") == "\xfb\xff\x7f");
}

TEST_CASE("malformed base64 is refused", "[http]") {
  for (const char* text :
       {"Z",     "Zg",   "Zg=",  "Zm8",  "Zm8==", "=",      "==",   "====", "Z===", "Zg==Zg==",
        "Zm9v=", "Zm-v", "Zm_v", "Zm v", " Zm9v", "Zm9v\n", "Zh==", "Zm9=", "Z=g=", "Zm9\xff"}) {
    CAPTURE(text);
    CHECK(decoded(text) == "malformed");
  }
}

TEST_CASE("a buffer that is too small is refused, one that just fits is not", "[http]") {
  std::array<char, 4> out{};
  CHECK(http::decode_base64("Zm9vYg==", out) == 4U);
  CHECK_FALSE(http::decode_base64("Zm9vYmE=", out));
}

TEST_CASE("Basic credentials are cut at the first colon", "[http]") {
  std::array<char, http::kMaxBasicBytes> out{};
  const auto check = [&](std::string_view value, std::string_view user, std::string_view password) {
    CAPTURE(value);
    const auto credentials = http::parse_basic(value, out);
    REQUIRE(credentials);
    CHECK(credentials->user == user);
    CHECK(credentials->password == password);
  };
  check("Basic YW15OnMz", "amy", "s3");
  check("bASIC   YW15OnMz", "amy", "s3");
  check("Basic YW15OmE6Yg==", "amy", "a:b");
  check("Basic Og==", "", "");
  check("Basic OsO8", "", "\xc3\xbc");
}

TEST_CASE("other credentials are malformed", "[http]") {
  std::array<char, http::kMaxBasicBytes> out{};
  for (const char* value :
       {"", "Basic", "Basic ", "Basic  ", "BasicYW15OnMz", "Basic\tYW15OnMz", "Bearer YW15OnMz",
        "Basic YW15", "Basic YW15OnM", "Basic YW15OnMz YQ==", "Basic YW15OnMz,", "Basic \"YTpi\"",
        "Digest username=\"amy\"", "YW15OnMz"}) {
    CAPTURE(value);
    CHECK_FALSE(http::parse_basic(value, out));
  }
}

TEST_CASE("credentials of 193 bytes fit, one more does not", "[http]") {
  std::array<char, http::kMaxBasicBytes> out{};
  // 'aaa' is YWFh, and 'a:a' is YTph.
  std::string value = "Basic YTph";
  for (int i = 0; i < 63; ++i) value += "YWFh";
  CHECK(http::parse_basic(value + "YQ==", out));
  CHECK_FALSE(http::parse_basic(value + "YWE=", out));
}
