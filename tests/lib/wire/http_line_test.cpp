#include "wire/http_line.h"

#include "tests/catch.h"

using wire::is_http_request_line;
using wire::is_line_of_browser;

TEST_CASE("the first line of an HTTP request is known", "[wire]") {
  for (const char* line : {"GET / HTTP/1.1", "HEAD /a%20b HTTP/1.0", "POST /-/accounts HTTP/1.1",
                           "OPTIONS * HTTP/1.1", "GET http://host/a HTTP/1.1"}) {
    CAPTURE(line);
    CHECK(is_http_request_line(line));
  }
}

TEST_CASE("other lines are no HTTP request", "[wire]") {
  for (const char* line : {"", " HTTP/1.1", "GET HTTP/1.1", "GET / HTTP/1.1 ", "GET / HTTP/2.0",
                           "GET /", "get / HTTP/1.1", "GET /a b HTTP/1.1", "G3T / HTTP/1.1",
                           " / HTTP/1.1", "GET  HTTP/1.1", "a.txt"}) {
    CAPTURE(line);
    CHECK_FALSE(is_http_request_line(line));
  }
}

TEST_CASE("a request line and a field Host are lines of a browser", "[wire]") {
  for (const char* line :
       {"POST / HTTP/1.1", "Host: 127.0.0.1:9001", "host:", "HOST:x", "patch / HTTP/1.1",
        "M-SEARCH * HTTP/1.1", "G3T /a http/1.0", "GET / HTTP/2.0", "get http://a:1/b HTTP/0.9"}) {
    CAPTURE(line);
    CHECK(is_line_of_browser(line));
  }
  for (const char* line : {"", "Host", "Hosts: a", "host a:b", "ping", "new:Host:a", "\x48\x0fST:",
                           "new:a:b / HTTP/1.1", "GET /a b HTTP/1.1", "GET / HTTP/1.12",
                           "GET / HTTP/1", " / HTTP/1.1", "GET  HTTP/1.1", "GET HTTP/1.1"}) {
    CAPTURE(line);
    CHECK_FALSE(is_line_of_browser(line));
  }
}
