#include "http/range.h"

#include <string>

#include "tests/catch.h"

using http::ByteRange;
using http::parse_ranges;
using http::Ranges;

namespace {

// Such as "0-10 20-30" with ends that are one past the last byte, "whole" or "416".
std::string parsed_range(std::string_view value, std::uint64_t size_bytes = 1000) {
  const Ranges ranges = parse_ranges(value, size_bytes);
  if (ranges.kind == Ranges::Kind::kWhole) return "whole";
  if (ranges.kind == Ranges::Kind::kUnsatisfiable) return "416";
  std::string text;
  for (const ByteRange& part : ranges.parts)
    text += (text.empty() ? "" : " ") + std::to_string(part.begin) + "-" + std::to_string(part.end);
  return text;
}

std::string list(int count, int step) {
  std::string value = "bytes=";
  for (int i = 0; i < count; ++i)
    value += (i > 0 ? "," : "") + std::to_string(i * step) + "-" + std::to_string(i * step);
  return value;
}

}  // namespace

TEST_CASE("one range", "[http]") {
  CHECK(parsed_range("bytes=0-0") == "0-1");
  CHECK(parsed_range("bytes=0-999") == "0-1000");
  CHECK(parsed_range("bytes=0-1000") == "0-1000");
  CHECK(parsed_range("bytes=0-") == "0-1000");
  CHECK(parsed_range("bytes=999-") == "999-1000");
  CHECK(parsed_range("bytes=-1") == "999-1000");
  CHECK(parsed_range("bytes=00000000000000000000005-") == "5-1000");
  CHECK(parsed_range("bytes=00000000000000000000000-00000000000000000000009") == "0-10");
  CHECK(parsed_range("bytes=-00000000000000000000001") == "999-1000");
  CHECK(parsed_range("bytes=-1000") == "0-1000");
  CHECK(parsed_range("bytes=-5000") == "0-1000");
  CHECK(parsed_range("BYTES= 1-2 ") == "1-3");
  CHECK(parsed_range("bytes=,1-2,,") == "1-3");
  CHECK(parsed_range("bytes=0-99999999999999999999999") == "0-1000");
  CHECK(parsed_range("bytes=-99999999999999999999999") == "0-1000");
  CHECK(parsed_range("bytes=0-18446744073709551615") == "0-1000");
}

TEST_CASE("a range that has no byte of the file", "[http]") {
  CHECK(parsed_range("bytes=1000-") == "416");
  CHECK(parsed_range("bytes=1000-2000") == "416");
  CHECK(parsed_range("bytes=-0") == "416");
  CHECK(parsed_range("bytes=99999999999999999999999-") == "416");
  CHECK(parsed_range("bytes=1000-,2000-,-0") == "416");
  CHECK(parsed_range("bytes=0-0", 0) == "416");
  CHECK(parsed_range("bytes=0-", 0) == "416");
  CHECK(parsed_range("bytes=-1", 0) == "416");
}

TEST_CASE("a range that is not understood gives the whole file", "[http]") {
  for (const char* value : {"",
                            "bytes",
                            "bytes=",
                            "bytes=,",
                            "bytes=-",
                            "bytes=a",
                            "bytes=1",
                            "bytes=5-4",
                            "bytes=1-2-3",
                            "bytes=--1",
                            "bytes=1-a",
                            "bytes=a-1",
                            "bytes=0x1-2",
                            "bytes=+1-2",
                            "bytes=1 -2",
                            "bytes=1- 2",
                            "bytes = 1-2",
                            "bytes:1-2",
                            "items=1-2",
                            "bytes=1-2;3-4",
                            "bytes=1-2,x",
                            "bytes=1000-,x",
                            "bytes=99999999999999999999999-1",
                            "1-2"}) {
    CAPTURE(value);
    CHECK(parsed_range(value) == "whole");
    CHECK(parsed_range(value, 0) == "whole");
  }
}

TEST_CASE("parts are joined and come by their first byte", "[http]") {
  CHECK(parsed_range("bytes=0-1,4-5") == "0-2 4-6");
  CHECK(parsed_range("bytes=4-5,0-1") == "0-2 4-6");
  CHECK(parsed_range("bytes=0-1,2-3") == "0-4");
  CHECK(parsed_range("bytes=0-5,2-3") == "0-6");
  CHECK(parsed_range("bytes=2-9,0-3,20-,-5") == "0-10 20-1000");
  CHECK(parsed_range("bytes=0-0,1000-") == "0-1");
  CHECK(parsed_range("bytes=0-0,-1") == "0-1 999-1000");
}

TEST_CASE("sixteen parts after joining are taken, one more is too many", "[http]") {
  CHECK(parse_ranges(list(16, 2), 1000).parts.size() == 16);
  CHECK(parsed_range(list(17, 2)) == "whole");
  CHECK(parsed_range(list(500, 1)) == "0-500");
  CHECK(parsed_range(list(17, 2) + ",0-99") == "0-100");
}

TEST_CASE("parts that ask for more than the file together give the whole file", "[http]") {
  CHECK(parsed_range("bytes=0-499,500-999") == "0-1000");
  CHECK(parsed_range("bytes=0-499,0-499") == "0-500");
  CHECK(parsed_range("bytes=0-499,0-500") == "whole");
  CHECK(parsed_range("bytes=0-,0-0") == "whole");
  CHECK(parsed_range("bytes=0-,1000-") == "0-1000");
}
