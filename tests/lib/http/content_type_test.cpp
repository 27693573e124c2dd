#include "http/content_type.h"

#include "tests/catch.h"

using http::content_type_of;

TEST_CASE("the end of a name gives its type", "[http]") {
  CHECK(content_type_of("a.txt").value == "text/plain; charset=utf-8");
  CHECK(content_type_of("b/c.d/A.JSON").value == "application/json; charset=utf-8");
  CHECK(content_type_of("a.tar.gz").value == "application/gzip");
  CHECK(content_type_of("a.js").value == "text/javascript; charset=utf-8");
  CHECK(content_type_of(".html").value == "text/html; charset=utf-8");
  for (const char* name : {"a", "", "a.", "a.unknown", "txt", "a.txt/b", "html.", "a.txt "}) {
    CAPTURE(name);
    CHECK(content_type_of(name).value == "application/octet-stream");
  }
}

TEST_CASE("types in which a browser runs scripts are active", "[http]") {
  for (const char* name : {"a.html", "a.htm", "a.xhtml", "a.svg", "a.xml"})
    CHECK(content_type_of(name).is_active);
  for (const char* name : {"a.txt", "a.pdf", "a.png", "a.js", "a"})
    CHECK_FALSE(content_type_of(name).is_active);
}
