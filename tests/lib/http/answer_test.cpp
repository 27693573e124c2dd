#include "http/answer.h"

#include <array>
#include <string>

#include "http/multipart.h"
#include "tests/catch.h"

using http::AnswerHead;
using http::ByteRange;

TEST_CASE("an answer's head is printed", "[http]") {
  std::array<char, 200> buffer;
  AnswerHead head(buffer, 206);
  head.field("Content-Type", "text/plain").field("Content-Length", 10U);
  head.content_range({0, 10}, 100);
  CHECK(head.finish() ==
        "HTTP/1.1 206 Partial Content\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n"
        "Content-Range: bytes 0-9/100\r\n\r\n");
  AnswerHead unsatisfiable(buffer, 416);
  unsatisfiable.content_range_unsatisfiable(100);
  CHECK(unsatisfiable.finish() ==
        "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */100\r\n\r\n");
}

TEST_CASE("a head that just fits is printed, a longer one is not", "[http]") {
  std::array<char, 40> buffer;
  const std::string start = "HTTP/1.1 200 OK\r\nA: \r\n\r\n";
  AnswerHead fits(buffer, 200);
  fits.field("A", std::string(40 - start.size(), 'a'));
  CHECK(fits.finish().size() == 40);
  AnswerHead too_long(buffer, 200);
  too_long.field("A", std::string(41 - start.size(), 'a'));
  CHECK(too_long.finish().empty());
}

TEST_CASE("the pieces of a multipart answer are as long as announced", "[http]") {
  const http::Multipart multipart(0xab, "text/plain", 1000);
  CHECK(multipart.content_type() == "multipart/byteranges; boundary=00000000000000ab");
  const std::vector<ByteRange> parts{{0, 1}, {998, 1000}};
  const std::string body = multipart.part_head(parts[0], true) + "x" +
                           multipart.part_head(parts[1], false) + "yz" + multipart.end();
  CHECK(
      body ==
      "--00000000000000ab\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-0/1000\r\n\r\nx\r\n"
      "--00000000000000ab\r\nContent-Type: text/plain\r\nContent-Range: bytes "
      "998-999/1000\r\n\r\nyz\r\n"
      "--00000000000000ab--\r\n");
  CHECK(multipart.size_bytes(parts) == body.size());
}
