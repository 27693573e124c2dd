#include "http/upload_fields.h"

#include "tests/catch.h"

namespace {

struct Parsed {
  explicit Parsed(const std::string& fields) : text("POST / HTTP/1.1\r\nHost: a\r\n" + fields) {
    text += "\r\n\r\n";
    parser.parse(text);
  }
  const http::RequestHead& head() const { return parser.head(); }

  std::string text;
  http::HeadParser parser;
};

std::optional<std::string> name_in(const std::string& value) {
  return http::disposition_name(Parsed("Content-Disposition: " + value).head());
}

}  // namespace

TEST_CASE("items of structured fields are of their type, or do not count", "[http]") {
  CHECK(http::parse_boolean_item("?1") == true);
  CHECK(http::parse_boolean_item("?0;a=1") == false);
  for (const char* other : {"", "1", "true", "?2", "?", "?1, ?1", "\"?1\""})
    CHECK_FALSE(http::parse_boolean_item(other));
  CHECK(http::parse_count_item("0") == 0);
  CHECK(http::parse_count_item("999999999999999;a") == 999'999'999'999'999);
  for (const char* other : {"", "-1", "1.0", "1000000000000000", "\"1\"", "a", "1 2"})
    CHECK_FALSE(http::parse_count_item(other));
}

TEST_CASE("a media type is one whatever its case and its parameters", "[http]") {
  const Parsed parsed("Content-Type: Application/Partial-Upload; a=b");
  CHECK(http::has_media_type(parsed.head(), "application/partial-upload"));
  CHECK_FALSE(http::has_media_type(parsed.head(), "application/partial"));
}

TEST_CASE("the name in Content-Disposition, quoted or encoded", "[http]") {
  CHECK(name_in("inline; filename=a") == "a");
  CHECK(name_in("inline; filename=\"a; \\\"b\\\\\"; x=y") == "a; \"b\\");
  CHECK(name_in("inline; filename=a; filename*=utf-8'en'%C3%A4%2Fb") == "\xc3\xa4/b");
  for (const char* none :
       {"inline", "inline; filename=\"a", "inline; filename*=iso-8859-1''a",
        "inline; filename*=UTF-8''%4", "inline; filename*=UTF-8'a", "filename=a"})
    CHECK_FALSE(name_in(none));
}

TEST_CASE("values of Upload-Metadata are decoded", "[http]") {
  CHECK(http::metadata_value("is_ok,filename YSBi, x eA==", "filename") == "a b");
  CHECK(http::metadata_value("filename", "filename") == "");
  CHECK_FALSE(http::metadata_value("filename !", "filename"));
  CHECK_FALSE(http::metadata_value("name YSBi", "filename"));
}

TEST_CASE("a checksum of tus is sha256, or malformed", "[http]") {
  using Kind = http::Digest::Kind;
  const auto kind = [](const std::string& field) {
    return http::parse_checksum(Parsed(field).head()).kind;
  };
  CHECK(kind("X: y") == Kind::kNone);
  CHECK(kind("Upload-Checksum: sha256 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=") ==
        Kind::kSha256);
  for (const char* value : {"sha1 AAAA", "sha256 AAAA", "sha256", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5"})
    CHECK(kind(std::string("Upload-Checksum: ") + value) == Kind::kMalformed);
}
