#include "fileserver/http/page.h"

#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/lib/http/parsed_head.h"

using fileserver::answer_page;
using fileserver::Preferred;
using http::Status;

namespace {

Preferred preferred(const std::string& accept) {
  const testing::ParsedHead head(testing::request("GET", accept));
  REQUIRE(head.status() == 200);
  return fileserver::preferred_form(*head);
}

bool has_part(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("JSON or a page is given, whichever is accepted first", "[page]") {
  for (const char* const accept :
       {"Accept: application/json\r\n", "Accept: */*, Application/JSON;q=0.1, text/html\r\n",
        "Accept: a/b\r\nAccept: application/json\r\n"}) {
    CAPTURE(accept);
    CHECK((preferred(accept) == Preferred::kJson));
  }
  for (const char* const accept : {"Accept: text/html, application/json\r\n",
                                   "Accept: text/html\r\nAccept: application/json\r\n",
                                   "Accept: Text/HTML,application/xhtml+xml,*/*;q=0.8\r\n"}) {
    CAPTURE(accept);
    CHECK((preferred(accept) == Preferred::kPage));
  }
  for (const char* const accept :
       {"", "Accept: */*\r\n", "Accept: application/jsonp\r\n", "Accept: text/htm\r\n"}) {
    CAPTURE(accept);
    CHECK((preferred(accept) == Preferred::kNeither));
  }
}

TEST_CASE("a page is accepted wherever Accept names it", "[page]") {
  const auto accepts = [](const std::string& accept) {
    const testing::ParsedHead head(testing::request("GET", accept));
    REQUIRE(head.status() == 200);
    return fileserver::accepts_page(*head);
  };
  CHECK(accepts("Accept: application/json, Text/HTML;q=0.1\r\n"));
  CHECK(accepts("Accept: application/json\r\nAccept: text/html, */*\r\n"));
  CHECK_FALSE(accepts("Accept: application/json, */*\r\n"));
  CHECK_FALSE(accepts(""));
}

TEST_CASE("the page of a status says what happened and leads on", "[page]") {
  const std::vector<Status> with_page{401, 403, 404, 429, 503};
  for (const Status status : with_page) {
    CAPTURE(status.number());
    const std::string page = answer_page(status);
    CHECK(page.starts_with("<!doctype html>"));
    CHECK(page.ends_with("</html>\n"));
    CHECK(has_part(page, "<h1>" + std::string(status.reason()) + "</h1>"));
    CHECK(has_part(page, "<p>"));
    CHECK(has_part(page, "<a href=\""));
    CHECK(has_part(page, "\"color-scheme\" content=\"light dark\""));
    CHECK_FALSE(has_part(page, "<script"));
    CHECK_FALSE(has_part(page, "http://"));
  }
  const std::vector<Status> without_page{200, 304, 400, 405, 412, 416, 500};
  for (const Status status : without_page) CHECK(answer_page(status).empty());
}

TEST_CASE("a title is text, whatever it contains", "[page]") {
  const std::string page = fileserver::html_page("<script>\"&'", "<p>body</p>\n");
  CHECK(has_part(page, "<title>&lt;script&gt;&quot;&amp;&#39;</title>"));
  CHECK(has_part(page, "<h1>&lt;script&gt;&quot;&amp;&#39;</h1>"));
  CHECK(has_part(page, "<p>body</p>"));
  CHECK_FALSE(has_part(page, "<script"));
}
