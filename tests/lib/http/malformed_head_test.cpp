// Heads that are refused: malformed ones, and those by which somebody could smuggle a request past
// a server that reads them in another way.
#include <array>
#include <string>
#include <string_view>

#include "tests/catch.h"
#include "tests/lib/http/parsed_head.h"

using namespace std::string_view_literals;
using testing::ParsedHead;

namespace {

// Whole requests.
constexpr std::array kMalformed{
    // Line ends.
    "GET /a HTTP/1.1\nHost: x\n\n"sv,
    "GET /a HTTP/1.1\r\nHost: x\n\r\n"sv,
    "GET /a HTTP/1.1\r\nHost: x\r\n\n"sv,
    "GET /a HTTP/1.1\rHost: x\r\r"sv,
    "GET /a HTTP/1.1\r\nHost: x\r\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\nHost: x\r\n\rA"sv,
    "\n\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "\rGET /a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    // The request line.
    "GET /a\r\nHost: x\r\n\r\n"sv,
    "GET\r\n\r\n"sv,
    "GET \r\n\r\n"sv,
    "/a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    " GET /a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "\tGET /a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET  /a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a  HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/1.1 \r\nHost: x\r\n\r\n"sv,
    "GET\t/a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET\t/a\tHTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a\tHTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a\x0bHTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET  HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "G\0T /a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "G{T /a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "G@T /a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "G\xc3\x89T /a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET: /a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "(GET) /a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET * HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET x:80 HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a\0 HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a\x7f HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a\x0b HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET http:///a HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a http/1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/1\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/11\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/1.\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/.1\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/1.10\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/01.1\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/1,1\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/1.1a\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/+1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/-1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTPS/1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a HTP/1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP 1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/ 1.1\r\nHost: x\r\n\r\n"sv,
    "GET /a ICY\r\nHost: x\r\n\r\n"sv,
    // Other protocols.
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc"sv,
    "SSH-2.0-client\r\n"sv,
    "ping\n"sv,
    "get:amy:s3\n"sv,
    "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\n"sv,
    "{\"a\": 1}"sv,
    // Host.
    "GET /a HTTP/1.1\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\nA: b\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n"sv,
    "GET /a HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\nHost: a b\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\nHost: u@x\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\nHost: x/a\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\nHost: x\\a\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\nHost: x\0\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\nHost: x\xff\r\n\r\n"sv,
    "GET http://x/a HTTP/1.1\r\n\r\n"sv,
    // A first line of fields that is folded, or no field.
    "GET /a HTTP/1.1\r\nHost : x\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\nHost\t: x\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\n Host: x\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\n\tHost: x\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\n \r\nHost: x\r\n\r\n"sv,
    "GET /a HTTP/1.1\r\nHost\r\n: x\r\n\r\n"sv,
    // HTTP/1.0 has no chunks.
    "GET /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"sv,
    "GET /a HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"sv,
};

// Lines of fields behind "Host: x".
constexpr std::array kMalformedFields{
    // Names.
    "A : b\r\n"sv,
    "A\t: b\r\n"sv,
    "A\r\n"sv,
    ": b\r\n"sv,
    "A b: c\r\n"sv,
    "A(b): c\r\n"sv,
    "A\xc3\xa9: b\r\n"sv,
    "A\0: b\r\n"sv,
    "A@: b\r\n"sv,
    "\"A\": b\r\n"sv,
    "A/b: c\r\n"sv,
    "A,b: c\r\n"sv,
    "A;b: c\r\n"sv,
    "A=b\r\n"sv,
    "A[0]: b\r\n"sv,
    "GET /b HTTP/1.1\r\n"sv,
    // Values.
    "A: b\0c\r\n"sv,
    "A: b\rc\r\n"sv,
    "A: b\nc\r\n"sv,
    "A: b\x7f\r\n"sv,
    "A: \x01\r\n"sv,
    "A: \x1b[1m\r\n"sv,
    "A: b\x0b\r\n"sv,
    "A: b\nContent-Length: 5\r\n"sv,
    "A: b\rTransfer-Encoding: chunked\r\n"sv,
    // Folded lines.
    "A: b\r\n c\r\n"sv,
    "A: b\r\n\tc\r\n"sv,
    "Content-Length:\r\n 5\r\n"sv,
    "Transfer-Encoding:\r\n chunked\r\n"sv,
    "A: b\r\n \r\n"sv,
    // Content-Length.
    "Content-Length:\r\n"sv,
    "Content-Length: +5\r\n"sv,
    "Content-Length: -5\r\n"sv,
    "Content-Length: -0\r\n"sv,
    "Content-Length: 0x5\r\n"sv,
    "Content-Length: 5.0\r\n"sv,
    "Content-Length: 5 5\r\n"sv,
    "Content-Length: 5,5\r\n"sv,
    "Content-Length: 5, 5\r\n"sv,
    "Content-Length: 5,\r\n"sv,
    "Content-Length: ,5\r\n"sv,
    "Content-Length: \"5\"\r\n"sv,
    "Content-Length: 5;a\r\n"sv,
    "Content-Length: 5e1\r\n"sv,
    "Content-Length: 1_0\r\n"sv,
    "Content-Length: five\r\n"sv,
    "Content-Length: \xc2\xa0"
    "5\r\n"sv,
    "Content-Length: 10000000000000000000\r\n"sv,
    "Content-Length: 00000000000000000005\r\n"sv,
    "Content-Length: 18446744073709551621\r\n"sv,
    "Content-Length: 99999999999999999999999999999999\r\n"sv,
    "Content-Length: 5\r\nContent-Length: 5\r\n"sv,
    "Content-Length: 5\r\nContent-Length: 6\r\n"sv,
    "Content-Length: 0\r\ncontent-length: 0\r\n"sv,
    "Content-Length : 5\r\n"sv,
    "Content-Length 5\r\n"sv,
    "Content-Length: 5\x0b\r\n"sv,
    // Transfer-Encoding.
    "Transfer-Encoding:\r\n"sv,
    "Transfer-Encoding: gzip\r\n"sv,
    "Transfer-Encoding: gzip, chunked\r\n"sv,
    "Transfer-Encoding: chunked, gzip\r\n"sv,
    "Transfer-Encoding: chunked, chunked\r\n"sv,
    "Transfer-Encoding: ,chunked\r\n"sv,
    "Transfer-Encoding: chunked,\r\n"sv,
    "Transfer-Encoding: chunked;a=b\r\n"sv,
    "Transfer-Encoding: chunked chunked\r\n"sv,
    "Transfer-Encoding: \"chunked\"\r\n"sv,
    "Transfer-Encoding: 'chunked'\r\n"sv,
    "Transfer-Encoding: xchunked\r\n"sv,
    "Transfer-Encoding: chunkedx\r\n"sv,
    "Transfer-Encoding: chunk\r\n"sv,
    "Transfer-Encoding: identity\r\n"sv,
    "Transfer-Encoding: blegh\r\n"sv,
    "Transfer-Encoding: identity, chunked\r\n"sv,
    "Transfer-Encoding:\x0b"
    "chunked\r\n"sv,
    "Transfer-Encoding: chunked\x0c\r\n"sv,
    "Transfer-Encoding: \xc2\xa0"
    "chunked\r\n"sv,
    "Transfer-Encoding: chunked\0\r\n"sv,
    "Transfer-Encoding : chunked\r\n"sv,
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"sv,
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"sv,
    "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"sv,
    // Both.
    "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"sv,
    "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"sv,
    "Transfer-Encoding: gzip\r\nContent-Length: 5\r\n"sv,
    "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"sv,
    "transfer-encoding: CHUNKED\r\ncontent-length: 0\r\n"sv,
    // Credentials.
    "Authorization: Basic YTpi\r\nAuthorization: Basic YTpi\r\n"sv,
    "Authorization: Basic YTpi\r\nauthorization: Bearer x\r\n"sv,
};

}  // namespace

TEST_CASE("malformed heads are refused with 400, however they are cut", "[http]") {
  static_assert(kMalformed.size() + kMalformedFields.size() >= 150);
  for (const std::string_view text : kMalformed) {
    CAPTURE(text);
    CHECK(ParsedHead(text).status() == 400);
    CHECK(ParsedHead(text, 1).status() == 400);
    CHECK(ParsedHead(text, 3).status() == 400);
  }
}

TEST_CASE("malformed fields are refused with 400, however they are cut", "[http]") {
  for (const char* method : {"GET", "PUT"}) {
    for (const std::string_view lines : kMalformedFields) {
      const std::string text = testing::request(method, lines);
      CAPTURE(text);
      CHECK(ParsedHead(text).status() == 400);
      CHECK(ParsedHead(text, 1).status() == 400);
      CHECK(ParsedHead(text, 3).status() == 400);
    }
  }
}

TEST_CASE("what is malformed is refused at once, not at the end of the head", "[http]") {
  for (const std::string_view text :
       {"GET /a HTTP/1.1\n"sv, "GET /a\0"sv, "GET /a\r"sv, "\x16"sv, "GET /a HTTP/1.1\r\nA: b\n"sv,
        "GET /a HTTP/1.1\r\n "sv, "PUT /a HTTP/1.1\r\nContent-Length: 5,\r\n"sv}) {
    CAPTURE(text);
    CHECK(ParsedHead(text).status() == 400);
  }
}

TEST_CASE("any byte at any place gives one of the answers of the contract", "[http][no-threads]") {
  const std::string good =
      "PUT /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t at = 0; at < good.size(); ++at) {
      std::string changed = good;
      changed[at] = static_cast<char>(byte);
      const int status = ParsedHead(changed).status();
      CAPTURE(byte, at, status);
      REQUIRE((status == 0 || status == 200 || status == 400 || status == 417 || status == 505));
    }
  }
}
