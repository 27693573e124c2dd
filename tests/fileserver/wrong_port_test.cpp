#include "fileserver/wrong_port.h"

#include "tests/catch.h"

using fileserver::is_http_request_line;
using fileserver::wrong_port_answer;

TEST_CASE("the first line of an HTTP request is known", "[wrong-port]") {
  for (const char* line : {"GET / HTTP/1.1", "HEAD /a%20b HTTP/1.0", "POST /-/accounts HTTP/1.1",
                           "OPTIONS * HTTP/1.1", "GET http://host/a HTTP/1.1"}) {
    CAPTURE(line);
    CHECK(is_http_request_line(line));
  }
}

TEST_CASE("other lines are no HTTP request", "[wrong-port]") {
  for (const char* line : {"", " HTTP/1.1", "GET HTTP/1.1", "GET / HTTP/1.1 ", "GET / HTTP/2.0",
                           "GET /", "get / HTTP/1.1", "GET /a b HTTP/1.1", "G3T / HTTP/1.1",
                           " / HTTP/1.1", "GET  HTTP/1.1", "a.txt"}) {
    CAPTURE(line);
    CHECK_FALSE(is_http_request_line(line));
  }
}

TEST_CASE("the answer names where HTTP is served, or the flag", "[wrong-port]") {
  const std::string without = wrong_port_answer({});
  CHECK(without.starts_with("HTTP/1.1 400 Bad Request\r\n"));
  CHECK(without.find("--http-listen 8080") != std::string::npos);
  const std::string with = wrong_port_answer(net::HostPort{"127.0.0.1", 8081});
  CHECK(with.find("HTTP is served at 127.0.0.1:8081") != std::string::npos);
}
