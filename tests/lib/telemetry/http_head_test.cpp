#include "telemetry/http_head.h"

#include <string>

#include "tests/catch.h"

using telemetry::parse_http_head;

namespace {

const std::string kRequest = "GET /metrics?x HTTP/1.1\r\nHost: a\r\n\r\n";

}  // namespace

TEST_CASE("a head that is cut anywhere is not complete", "[telemetry]") {
  for (std::size_t size = 0; size < kRequest.size(); ++size) {
    CAPTURE(size);
    CHECK(parse_http_head(kRequest.substr(0, size)).status == 0);
  }
  const auto head = parse_http_head(kRequest);
  CHECK(head.status == 200);
  CHECK(head.path == "/metrics");
  CHECK_FALSE(head.is_head);
}

TEST_CASE("what follows the head is not looked at", "[telemetry]") {
  CHECK(parse_http_head(kRequest + std::string("\0\n\xff", 3)).status == 200);
}

TEST_CASE("a head of 8192 bytes is taken, one more is too many", "[telemetry]") {
  const std::string start = "GET / HTTP/1.1\r\nHost: a\r\nA: ";
  const std::string longest = start + std::string(8192 - start.size() - 4, 'a') + "\r\n\r\n";
  REQUIRE(longest.size() == 8192);
  CHECK(parse_http_head(longest).status == 200);
  CHECK(parse_http_head(start + std::string(8192 - start.size() - 3, 'a') + "\r\n\r\n").status ==
        431);
  CHECK(parse_http_head("GET /" + std::string(8187, 'a')).status == 0);
  CHECK(parse_http_head("GET /" + std::string(8188, 'a')).status == 414);
}

TEST_CASE("the bytes of any head are 400, or a status that the contract names", "[telemetry]") {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t at = 0; at < kRequest.size(); ++at) {
      std::string changed = kRequest;
      changed[at] = static_cast<char>(byte);
      const int status = parse_http_head(changed).status;
      CAPTURE(byte, at, status);
      CHECK((status == 0 || status == 200 || status == 400 || status == 405 || status == 505));
    }
  }
}
