#include "fileserver/wrong_port.h"

#include "tests/catch.h"

using fileserver::wrong_port_answer;

TEST_CASE("the answer names where HTTP is served, or the flag", "[wrong-port]") {
  const std::string without = wrong_port_answer({});
  CHECK(without.starts_with("HTTP/1.1 400 Bad Request\r\n"));
  CHECK(without.find("--http-listen 8080") != std::string::npos);
  const std::string with = wrong_port_answer(net::HostPort{"127.0.0.1", 8081});
  CHECK(with.find("HTTP is served at 127.0.0.1:8081") != std::string::npos);
}
