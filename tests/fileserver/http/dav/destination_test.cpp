#include "fileserver/http/dav/destination.h"

#include <string>

#include "tests/catch.h"

using fileserver::Destination;
using DestinationKind = Destination::Kind;

namespace {

DestinationKind kind_of(std::string_view value, std::string_view host = "files.example:8080") {
  return Destination(value, host).kind();
}

}  // namespace

TEST_CASE("a destination is a path, or a URI of the same host", "[dav]") {
  for (const char* value :
       {"/a%20b/", "http://files.example:8080/a%20b/", "https://FILES.example:8080/a%20b/?x",
        "HTTP://amy:secret@files.example:8080/a%20b/"}) {
    CAPTURE(value);
    const Destination destination(value, "files.example:8080");
    REQUIRE(destination.kind() == DestinationKind::kPath);
    CHECK(destination.path().name == "a b");
    CHECK(destination.path().ends_with_slash);
  }
  const Destination root("http://h", "h");
  REQUIRE(root.kind() == DestinationKind::kPath);
  CHECK(root.path().name.empty());
}

TEST_CASE("the port of a scheme need not be named", "[dav]") {
  CHECK(kind_of("http://h:80/a", "h") == DestinationKind::kPath);
  CHECK(kind_of("http://h/a", "h:80") == DestinationKind::kPath);
  CHECK(kind_of("http://h:/a", "h") == DestinationKind::kPath);
  CHECK(kind_of("http://h/a", "h:") == DestinationKind::kPath);
  CHECK(kind_of("https://h:443/a", "h") == DestinationKind::kPath);
  CHECK(kind_of("https://h:80/a", "h") == DestinationKind::kElsewhere);
  CHECK(kind_of("https://h/a", "h:8443") == DestinationKind::kElsewhere);
  CHECK(kind_of("http://[::1]:80/a", "[::1]") == DestinationKind::kPath);
}

TEST_CASE("a URI of another host is elsewhere", "[dav]") {
  for (const char* value :
       {"http://other/a", "http://files.example/a", "https://x@other/a", "http:///a",
        "http://files.example:8080@other/a", "http://:80/a", "http://:/a", "http://@/a",
        "http://files.example:8080\\@other/a", "http://files.example.other:8080/a",
        "http://[::1]/a", "http://files.example:99999999999/a", "http://files.example:08080/a"}) {
    CAPTURE(value);
    CHECK(kind_of(value) == DestinationKind::kElsewhere);
  }
  CHECK(kind_of("http://h/a", "") == DestinationKind::kElsewhere);
  CHECK(kind_of("http:///a", "") == DestinationKind::kElsewhere);
}

TEST_CASE("what no file can have is malformed", "[dav]") {
  for (const char* value : {"",
                            "a",
                            "//files.example:8080/a",
                            "ftp://files.example:8080/a",
                            "/a#b",
                            "/../a",
                            "/a//b",
                            "/%",
                            "/%00",
                            "/a\\b",
                            "http:/a",
                            "http://files.example:8080//a",
                            "http://files.example:8080#a",
                            "http:a",
                            "file:///a",
                            "\\\\h\\a",
                            "*",
                            "/./a",
                            "/%2e%2e/a",
                            "/a%0d%0ab",
                            "/%u0063",
                            "http://files.example:8080/../a",
                            "http://files.example:8080#@other/a"}) {
    CAPTURE(value);
    CHECK(kind_of(value) == DestinationKind::kMalformed);
  }
}
