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
