#include "http/digest.h"

#include <string>

#include "tests/catch.h"
#include "tests/lib/http/parsed_head.h"

using http::Digest;
using http::Field;
using testing::ParsedHead;

namespace {

const std::string kGood = "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:";  // of nothing

Digest parsed(const std::string& value) {
  const ParsedHead head(testing::request("PUT", "Content-Digest: " + value + "\r\n"));
  REQUIRE(head.status() == 200);
  return http::parse_digest(*head, Field::kContentDigest);
}

}  // namespace

TEST_CASE("a sha-256 digest is read", "[http]") {
  for (const std::string& value :
       {kGood, "x=\"a, sha-256=b\"," + kGood, "md5=:AA==:, " + kGood, kGood + ";a=b",
        kGood + ",sha-512=x", "sha-256=bad," + kGood, "md5=:AA==:\r\nContent-Digest: " + kGood}) {
    CAPTURE(value);
    const Digest digest = parsed(value);
    CHECK(digest.kind == Digest::Kind::kSha256);
    CHECK(std::string(digest.sha256.begin(), digest.sha256.begin() + 4) == "\xe3\xb0\xc4\x42");
  }
}

TEST_CASE("other digests are passed over", "[http]") {
  for (const char* value :
       {"", "md5=:AA==:", "sha-512=x", "sha", "sha-2567=x", ",,", "x=\"a, sha-256=b\"",
        "x=\"a\\\", sha-256=b\"", "x=\"sha-256=,", "x=\"\\"})
    CHECK(parsed(value).kind == Digest::Kind::kNone);
  const ParsedHead none(testing::request("PUT", ""));
  CHECK(http::parse_digest(*none, Field::kReprDigest).kind == Digest::Kind::kNone);
}

TEST_CASE("a malformed sha-256 digest is told", "[http]") {
  for (const char* value :
       {"sha-256", "sha-256=", "sha-256=:", "sha-256=::", "sha-256=:AAAA:",
        "sha-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU:",
        "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:x",
        "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFUA:", "sha-256=e3b0c442"}) {
    CAPTURE(value);
    CHECK(parsed(value).kind == Digest::Kind::kMalformed);
  }
}

namespace {

bool wants(const std::string& value) {
  const ParsedHead head(testing::request("GET", "Want-Repr-Digest: " + value + "\r\n"));
  REQUIRE(head.status() == 200);
  return http::wants_sha256(*head);
}

}  // namespace

TEST_CASE("a sha-256 is wanted with a preference over 0", "[http]") {
  // The first three are of RFC 9530, section 4 and appendix C.
  for (const char* value :
       {"sha-256=1", "sha-512=3, sha-256=10, unixsum=0", "sha=10, sha-256=1", "sha-256=9",
        "sha-256=1;a=b", "sha-256=11", "sha-256=999999999999999", "  sha-256=3 ,",
        "sha-256=0, sha-256=2", "sha-256, sha-256=2", "a=\"sha-256=0, \\\", sha-256=0\", sha-256=1",
        "md5=1\r\nWant-Repr-Digest: sha-256=1"}) {
    CAPTURE(value);
    CHECK(wants(value));
  }
}

TEST_CASE("what is no preference over 0 wants no sha-256", "[http]") {
  for (const char* value : {"",
                            ",",
                            "sha-256=0",
                            "sha-256=-1",
                            "sha-256=-0",
                            "sha-256",
                            "sha-256=",
                            "sha-256=;",
                            "sha-256=?1",
                            "sha-256=1.5",
                            "sha-256=1.0",
                            "sha-256= 1",
                            "sha-256 =1",
                            "sha-256=+1",
                            "sha-256=0x1",
                            "sha-256=1 ;a",
                            "sha-256=9999999999999999",
                            "sha-256=\"1\"",
                            "sha-256=(1)",
                            "SHA-256=1",
                            "sha-512=1",
                            "sha-2567=1",
                            "x=\"sha-256=1",
                            "x=\"a, sha-256=1\"",
                            "sha-256=1, sha-256=0",
                            "sha-256=1, sha-256",
                            "sha-256=1\r\nWant-Repr-Digest: sha-256=x"}) {
    CAPTURE(value);
    CHECK_FALSE(wants(value));
  }
  const ParsedHead none(testing::request("GET", "Want-Content-Digest: sha-256=1\r\n"));
  CHECK_FALSE(http::wants_sha256(*none));
}

TEST_CASE("a digest is printed as it is read", "[http]") {
  std::array<std::uint8_t, 32> bytes{};
  CHECK(http::DigestText(bytes).view() == "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:");
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 59 + 7);
  for (const int last : {0, 1, 2, 64, 128, 255}) {
    bytes.back() = static_cast<std::uint8_t>(last);
    const Digest digest = parsed(std::string(http::DigestText(bytes).view()));
    REQUIRE(digest.kind == Digest::Kind::kSha256);
    CHECK(std::equal(bytes.begin(), bytes.end(), digest.sha256.begin(),
                     [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); }));
  }
}
