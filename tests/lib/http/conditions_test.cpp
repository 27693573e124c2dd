#include "http/conditions.h"

#include <string>

#include "http/date.h"
#include "tests/catch.h"
#include "tests/lib/http/parsed_head.h"

using http::Validators;
using http::Verdict;
using testing::ParsedHead;

namespace {

constexpr std::int64_t kNow = 1'790'000'000;
constexpr std::int64_t kModified = 784'111'777;
const std::string kSame = "Sun, 06 Nov 1994 08:49:37 GMT\r\n";
const std::string kBefore = "Sun, 06 Nov 1994 08:49:36 GMT\r\n";
const std::string kAfter = "Sun, 06 Nov 1994 08:49:38 GMT\r\n";

const Validators kCurrent(1024, kModified * 1'000'000'000 + 5, kNow);
const std::string kTag(kCurrent.tag.view());

Verdict verdict(std::string_view method, const std::string& lines,
                const Validators* current = &kCurrent) {
  const ParsedHead head(testing::request(method, lines));
  REQUIRE(head.status() == 200);
  return http::evaluate(*head, current, kNow);
}

bool range_holds(const std::string& value) {
  const ParsedHead head(testing::request("GET", "If-Range: " + value + "\r\n"));
  return http::if_range_holds(*head, kCurrent);
}

}  // namespace

TEST_CASE("an entity tag has size and time, and nothing of the host", "[http]") {
  CHECK(kTag == "\"400-ae1b981bc490a05\"");
  CHECK(http::EntityTag(~std::uint64_t{0}, -1).view() == "\"ffffffffffffffff-ffffffffffffffff\"");
  CHECK(http::EntityTag(1, 2).view() != http::EntityTag(1, 3).view());
  CHECK(http::EntityTag(1, 2).view() != http::EntityTag(2, 2).view());
}

TEST_CASE("a weak tag is never the strong one of the same size and time", "[http]") {
  const http::EntityTag weak(1024, 5, http::Strength::kWeak);
  CHECK(weak.is_weak());
  CHECK(weak.view() == "W/\"400-5-w\"");
  CHECK_FALSE(http::EntityTag(1024, 5).is_weak());
  CHECK(http::EntityTag(~std::uint64_t{0}, -1, http::Strength::kWeak).view() ==
        "W/\"ffffffffffffffff-ffffffffffffffff-w\"");
}

TEST_CASE("a version with a weak tag is named by no tag, and is never 304", "[http]") {
  const Validators weak(1024, kModified * 1'000'000'000 + 5, kNow, http::Strength::kWeak);
  const std::string tag(weak.tag.view());
  const std::string bare = tag.substr(2);
  for (const std::string& sent : {kTag, "W/" + kTag, tag, bare, std::string("*")}) {
    CAPTURE(sent);
    CHECK(verdict("GET", "If-None-Match: " + sent + "\r\n", &weak) == Verdict::kGoOn);
    CHECK(verdict("HEAD", "If-None-Match: " + sent + "\r\n", &weak) == Verdict::kGoOn);
    const ParsedHead head(testing::request("GET", "If-Range: " + sent + "\r\n"));
    CHECK_FALSE(http::if_range_holds(*head, weak));
    if (sent == "*") continue;
    CHECK(verdict("GET", "If-Match: " + sent + "\r\n", &weak) == Verdict::kPreconditionFailed);
    CHECK(verdict("PUT", "If-Match: " + sent + "\r\n", &weak) == Verdict::kPreconditionFailed);
  }
  CHECK(verdict("GET", "If-Match: *\r\n", &weak) == Verdict::kGoOn);
  CHECK(verdict("PUT", "If-None-Match: *\r\n", &weak) == Verdict::kPreconditionFailed);
  CHECK(verdict("GET", "If-Modified-Since: " + kSame, &weak) == Verdict::kGoOn);
  // What was weak once is not taken for the settled version.
  CHECK(verdict("GET", "If-None-Match: " + tag + "\r\n") == Verdict::kGoOn);
  CHECK(verdict("PUT", "If-Match: " + bare + "\r\n") == Verdict::kPreconditionFailed);
}

TEST_CASE("a time before 1970 or in the future is no Last-Modified", "[http]") {
  CHECK(kCurrent.modified == kModified);
  CHECK(Validators(1, 0, kNow).modified == 0);
  CHECK_FALSE(Validators(1, -1, kNow).modified);
  CHECK(Validators(1, kNow * 1'000'000'000 + 999'999'999, kNow).modified == kNow);
  CHECK_FALSE(Validators(1, (kNow + 1) * 1'000'000'000, kNow).modified);
}

TEST_CASE("If-None-Match is 304 for reads and 412 for others", "[http]") {
  for (const std::string& tags :
       {kTag, "W/" + kTag, "\"a\", " + kTag, "\"a,b\" ,W/" + kTag + ",", "," + kTag,
        std::string("*"), "\"a\"\r\nIf-None-Match: " + kTag}) {
    CAPTURE(tags);
    CHECK(verdict("GET", "If-None-Match: " + tags + "\r\n") == Verdict::kNotModified);
    CHECK(verdict("HEAD", "If-None-Match: " + tags + "\r\n") == Verdict::kNotModified);
    CHECK(verdict("PUT", "If-None-Match: " + tags + "\r\n") == Verdict::kPreconditionFailed);
    CHECK(verdict("PUT", "If-None-Match: " + tags + "\r\n", nullptr) == Verdict::kGoOn);
  }
  const std::string bare = kTag.substr(1, kTag.size() - 2);
  for (const std::string& tags :
       {std::string("\"a\""), bare, std::string(), "w/" + kTag, "\"a\" " + kTag, "\"a" + kTag}) {
    CAPTURE(tags);
    CHECK(verdict("GET", "If-None-Match: " + tags + "\r\n") == Verdict::kGoOn);
  }
}

TEST_CASE("If-Match compares strongly", "[http]") {
  CHECK(verdict("GET", "If-Match: " + kTag + "\r\n") == Verdict::kGoOn);
  CHECK(verdict("PUT", "If-Match: \"a\", " + kTag + "\r\n") == Verdict::kGoOn);
  CHECK(verdict("PUT", "If-Match: *\r\n") == Verdict::kGoOn);
  CHECK(verdict("PUT", "If-Match: *\r\n", nullptr) == Verdict::kPreconditionFailed);
  CHECK(verdict("PUT", "If-Match: " + kTag + "\r\n", nullptr) == Verdict::kPreconditionFailed);
  for (const std::string& tags : {std::string("\"a\""), "W/" + kTag, std::string()}) {
    CAPTURE(tags);
    CHECK(verdict("GET", "If-Match: " + tags + "\r\n") == Verdict::kPreconditionFailed);
  }
}

TEST_CASE("dates count in whole seconds", "[http]") {
  CHECK(verdict("GET", "If-Modified-Since: " + kSame) == Verdict::kNotModified);
  CHECK(verdict("GET", "If-Modified-Since: " + kAfter) == Verdict::kNotModified);
  CHECK(verdict("GET", "If-Modified-Since: " + kBefore) == Verdict::kGoOn);
  CHECK(verdict("PUT", "If-Modified-Since: " + kSame) == Verdict::kGoOn);
  CHECK(verdict("GET", "If-Modified-Since: Sun Nov  6 08:49:37 1994\r\n") == Verdict::kNotModified);
  CHECK(verdict("GET", "If-Unmodified-Since: " + kSame) == Verdict::kGoOn);
  CHECK(verdict("GET", "If-Unmodified-Since: " + kBefore) == Verdict::kPreconditionFailed);
  CHECK(verdict("PUT", "If-Unmodified-Since: " + kBefore) == Verdict::kPreconditionFailed);
}

TEST_CASE("a date that is malformed, came twice, or has nothing to compare with does not count",
          "[http]") {
  CHECK(verdict("GET", "If-Modified-Since: soon\r\n") == Verdict::kGoOn);
  CHECK(verdict("GET", "If-Unmodified-Since: soon\r\n") == Verdict::kGoOn);
  CHECK(verdict("GET", "If-Modified-Since: " + kSame + "If-Modified-Since: " + kSame) ==
        Verdict::kGoOn);
  const Validators undated(1, -1, kNow);
  CHECK(verdict("GET", "If-Modified-Since: " + kSame, &undated) == Verdict::kGoOn);
  CHECK(verdict("GET", "If-Unmodified-Since: " + kBefore, &undated) == Verdict::kGoOn);
  CHECK(verdict("PUT", "If-Unmodified-Since: " + kBefore, nullptr) == Verdict::kGoOn);
}

TEST_CASE("tags count before dates, and what must match before what must not", "[http]") {
  CHECK(verdict("GET", "If-Match: " + kTag + "\r\nIf-Unmodified-Since: " + kBefore) ==
        Verdict::kGoOn);
  CHECK(verdict("GET", "If-None-Match: \"a\"\r\nIf-Modified-Since: " + kSame) == Verdict::kGoOn);
  CHECK(verdict("GET", "If-None-Match: " + kTag + "\r\nIf-Modified-Since: " + kBefore) ==
        Verdict::kNotModified);
  CHECK(verdict("GET", "If-None-Match: " + kTag + "\r\nIf-Match: \"a\"\r\n") ==
        Verdict::kPreconditionFailed);
  CHECK(verdict("GET", "If-Modified-Since: " + kSame + "If-Unmodified-Since: " + kBefore) ==
        Verdict::kPreconditionFailed);
}

TEST_CASE("If-Range takes the strong tag, and no date", "[http]") {
  CHECK(range_holds(kTag));
  CHECK_FALSE(range_holds("Sun, 06 Nov 1994 08:49:37 GMT"));
  CHECK_FALSE(range_holds("W/" + kTag));
  CHECK_FALSE(range_holds("\"a\""));
  CHECK_FALSE(range_holds(""));
  CHECK_FALSE(range_holds("Sun, 06 Nov 1994 08:49:38 GMT"));
  CHECK_FALSE(range_holds("Sun Nov  6 08:49:37 1994"));
  CHECK_FALSE(range_holds("Mon, 06 Nov 1994 08:49:37 GMT"));
  CHECK_FALSE(range_holds(kTag + "\r\nIf-Range: " + kTag));
  CHECK(http::if_range_holds(*ParsedHead(testing::request("GET", "")), kCurrent));
}
