#include "http/path.h"

#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.h"

using namespace std::string_view_literals;

namespace {

// The name, with "/" at its end if the path had one, or "none".
std::string decoded_path(std::string_view path) {
  std::vector<char> out(path.size());
  const auto found = http::decode_path(path, out);
  if (!found) return "none";
  return std::string(found->name) + (found->ends_with_slash ? "/" : "");
}

}  // namespace

TEST_CASE("a path is decoded once into a file name", "[http]") {
  CHECK(decoded_path("/a.txt") == "a.txt");
  CHECK(decoded_path("/a/b%20c") == "a/b c");
  CHECK(decoded_path("/a+b") == "a+b");
  CHECK(decoded_path("/%61%2fb") == "a/b");
  CHECK(decoded_path("/%2541") == "%41");
  CHECK(decoded_path("/%c3%A9\xff") == "\xc3\xa9\xff");
  CHECK(decoded_path("/") == "/");
  CHECK(decoded_path("/a/") == "a/");
  CHECK(decoded_path("/a%2F") == "a/");
  CHECK(decoded_path("/...") == "...");
  CHECK(decoded_path("/%3f%23%25") == "?#%");
}

TEST_CASE("a path that no file can have is refused", "[http]") {
  for (const std::string_view path :
       {""sv,          "a"sv,      "*"sv,         "//"sv,      "//a"sv,    "/a//b"sv,
        "/a//"sv,      "/."sv,     "/./"sv,       "/.."sv,     "/a/.."sv,  "/a/../b"sv,
        "/%2e%2E/b"sv, "/a/%2e"sv, "/a%2f%2fb"sv, "/%2f"sv,    "/%"sv,     "/%4"sv,
        "/%4g"sv,      "/%g4"sv,   "/a%"sv,       "/%u0041"sv, "/%00"sv,   "/a%00.txt"sv,
        "/a%0a"sv,     "/%7f"sv,   "/a\\b"sv,     "/%5c"sv,    "/..%5c"sv, "/ %1f"sv}) {
    CAPTURE(path);
    CHECK(decoded_path(path) == "none");
  }
}

TEST_CASE("a path may be decoded where it is", "[http]") {
  std::string path = "/%41%42/c";
  const auto found = http::decode_path(path, path);
  REQUIRE(found);
  CHECK(found->name == "AB/c");
}

TEST_CASE("any name survives encoding and decoding, or no path has it", "[http]") {
  for (int byte = 1; byte < 256; ++byte) {
    const std::string name = "a" + std::string(1, static_cast<char>(byte)) + "b";
    CAPTURE(byte);
    CHECK(decoded_path("/" + http::encode_path(name)) ==
          (http::is_path_name(name) ? name : "none"));
    for (const char encoded : http::encode_path(name)) CHECK((encoded > ' ' && encoded < 0x7f));
  }
  CHECK(http::encode_path("a:b c/\"<>#?%") == "a%3Ab%20c/%22%3C%3E%23%3F%25");
  CHECK(http::encode_path("Az09-._~/") == "Az09-._~/");
  CHECK(http::encode_path("\xc3\xa9+") == "%C3%A9%2B");
}

TEST_CASE("a key of a query has its values, in their order", "[http]") {
  using Values = std::vector<std::string>;
  CHECK(http::query_values("/a?k=b&k=c%20d&x=1&k=e+f", "k") == Values{"b", "c d", "e+f"});
  CHECK(http::query_values("/a?zip", "zip") == Values{""});
  CHECK(http::query_values("/a?zip&k=1", "zip") == Values{""});
  CHECK(http::query_values("/a?k=%c3%A9%26%3D=?", "k") == Values{"\xc3\xa9&==?"});
  CHECK(http::query_values("/a?k=%&k=%4&k=%4g&k=5", "k") == Values{"%", "%4", "%4g", "5"});
  for (const std::string_view target :
       {"", "/", "/a", "/k=1", "/a?", "/a?&", "/a?kk=1&&x=k", "/a?K"})
    CHECK(http::query_values(target, "k").empty());
}

TEST_CASE("names that no path can have are not listed", "[http]") {
  CHECK(http::is_path_name("a b/c"));
  CHECK_FALSE(http::is_path_name("a\nb"));
  CHECK_FALSE(http::is_path_name("a\\b"));
  CHECK_FALSE(http::is_path_name(".."));
  CHECK_FALSE(http::is_path_name(""));
}
