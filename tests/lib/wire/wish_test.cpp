#include "wire/wish.h"

#include <optional>
#include <string>
#include <variant>

#include "tests/catch.h"
#include "wire/line_buffer.h"
#include "wire/request.h"

using base::ErrorCode;
using namespace wire;

namespace {

const std::string kSecret = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn-_0";

// Nothing: it is a request.
std::optional<ErrorCode> refusal_of_line(const std::string& line) {
  const auto request = parse_auth_line(line);
  const auto* const refused = std::get_if<Refused>(&request);
  return refused == nullptr ? std::nullopt : std::optional(refused->code);
}

std::optional<ErrorCode> refusal_of_wish(const std::string& wish) {
  return refusal_of_line("as:x:" + wish);
}

}  // namespace

TEST_CASE("wishes of links are read back as they were printed", "[wire]") {
  for (const std::string& wish :
       {std::string("links"), std::string("link:read:0:0:-:/"), std::string("link:drop:1:1:-:a/"),
        "link:read:316224000:1000000:" + kSecret + ":a/b: c.txt", "unlink:" + std::string(22, 'I'),
        std::string("visit:-"), "visit:" + kSecret, std::string("use:-"), "use:" + kSecret}) {
    CAPTURE(wish);
    const std::string line = "as:x:" + wish;
    const auto request = parse_auth_line(line);
    REQUIRE(std::holds_alternative<As>(request));
    CHECK(line_of(std::get<As>(request)) == line + "\n");
  }
  const std::string operand = "read:60:5:" + kSecret + ":a:b/";
  const auto link = parse_link_wish(operand);
  REQUIRE(link);
  CHECK(link->may == GuestsMay::kRead);
  CHECK(link->seconds == 60);
  CHECK(link->uses == 5);
  CHECK(link->secret == kSecret);
  CHECK(link->path == "a:b/");
  CHECK(text_of(*link) == operand);
  CHECK(parse_link_wish("drop:0:0:-:/")->secret.empty());
}

TEST_CASE("wishes of links with parts that are missing or not acceptable are refused", "[wire]") {
  for (const char* wish :
       {"links:", "links:amy", "link", "unlink", "visit", "use", "Link:read:0:0:-:a"}) {
    CAPTURE(wish);
    CHECK(refusal_of_wish(wish) == ErrorCode::kSyntax);
  }
  CHECK(refusal_of_wish(std::string("link:read:0:0:-:a\x01")) == ErrorCode::kSyntax);
  for (const char* operand : {"",
                              "read",
                              "read:0",
                              "read:0:0",
                              "read:0:0:-",
                              "read:0:0:-:",
                              ":0:0:-:a",
                              "write:0:0:-:a",
                              "Read:0:0:-:a",
                              "read::0:-:a",
                              "read:-1:0:-:a",
                              "read:+1:0:-:a",
                              "read:1x:0:-:a",
                              "read: 1:0:-:a",
                              "read:316224001:0:-:a",
                              "read:99999999999999999999:0:-:a",
                              "read:0::-:a",
                              "read:0:-1:-:a",
                              "read:0:-0:-:a",
                              "read:0:1.5:-:a",
                              "read:0:1000001:-:a",
                              "read:0:99999999999999999999:-:a",
                              "read:0:0::a",
                              "read:0:0:x:a",
                              "read:0:0:--:a"}) {
    CAPTURE(operand);
    CHECK(refusal_of_wish(std::string("link:") + operand) == ErrorCode::kInvalid);
  }
  for (const std::string& secret : {kSecret + "A", kSecret.substr(1), kSecret.substr(1) + "+"}) {
    CAPTURE(secret);
    for (const std::string& wish : {"link:read:0:0:" + secret + ":a", "visit:" + secret,
                                    "use:" + secret, "visit:" + secret + ":"})
      CHECK(refusal_of_wish(wish) == ErrorCode::kInvalid);
  }
  for (const char* wish : {"visit:", "use:", "visit:-:", "use:--", "unlink:", "unlink:x"})
    CHECK(refusal_of_wish(wish) == ErrorCode::kInvalid);
}

TEST_CASE("a link is to a file or a folder, and to put files is to a folder", "[wire]") {
  for (const char* path : {"a", "a/b", "a/", "/", "a/b/", "...", "-", "a b"}) {
    CAPTURE(path);
    CHECK_FALSE(refusal_of_wish(std::string("link:read:0:0:-:") + path));
  }
  for (const char* path : {"/a", "//", "/a/", "a//b", "a//", ".", "./", "..", "../", "../a", "a/..",
                           "a/../", "a/./b"}) {
    CAPTURE(path);
    for (const char* may : {"read", "drop"})
      CHECK(refusal_of_wish(std::string("link:") + may + ":0:0:-:" + path) == ErrorCode::kInvalid);
  }
  CHECK_FALSE(refusal_of_wish("link:drop:0:0:-:a/"));
  CHECK_FALSE(refusal_of_wish("link:drop:0:0:-:/"));
  CHECK(refusal_of_wish("link:drop:0:0:-:a") == ErrorCode::kInvalid);
}

TEST_CASE("the line of the longest link is no longer than a line may be", "[wire]") {
  const auto line_with = [](const std::string& path) {
    return "by:" + std::string(kMaxUserBytes, 'u') + ":128:" + std::string(kMaxPasswordBytes, 'p') +
           ":link:read:316224000:1000000:" + kSecret + ":" + path;
  };
  const std::string path(kMaxLinkPathBytes, 'x');
  CHECK_FALSE(refusal_of_line(line_with(path)));
  CHECK_FALSE(refusal_of_line(line_with(path.substr(1) + "/")));
  CHECK(line_with(path).size() + 1 <= kMaxLineBytes);
  CHECK(refusal_of_line(line_with(path + "x")) == ErrorCode::kInvalid);
  CHECK(refusal_of_line(line_with(path + "/")) == ErrorCode::kInvalid);
}
