#include "http/chunks.h"

#include <string>
#include <string_view>
#include <vector>

#include "http/request_head.h"
#include "tests/catch.h"

using namespace std::string_view_literals;
using http::ChunkDecoder;

namespace {

struct Decoded {
  std::string body;
  int status = 0;  // 0: needs more, 200: complete
  std::size_t taken_bytes = 0;

  bool operator==(const Decoded&) const = default;
};

Decoded decode(std::string_view stream, std::size_t piece_bytes = 1'000'000) {
  ChunkDecoder decoder;
  Decoded decoded;
  while (!stream.empty() && decoder.state() == ChunkDecoder::State::kNeedMore) {
    const std::string piece(stream.substr(0, piece_bytes));
    std::string_view rest = piece;
    while (!rest.empty() && decoder.state() == ChunkDecoder::State::kNeedMore) {
      const std::size_t before = rest.size();
      decoded.body += decoder.take(rest);
      REQUIRE(rest.size() < before);
    }
    stream.remove_prefix(piece.size() - rest.size());
    decoded.taken_bytes += piece.size() - rest.size();
  }
  if (decoder.state() == ChunkDecoder::State::kComplete) decoded.status = 200;
  if (decoder.state() == ChunkDecoder::State::kRefused) decoded.status = decoder.status().number();
  return decoded;
}

const std::string kBody =
    "5\r\nhello\r\n1;a=b;c=\"d e\"\r\n \r\n0000000000000006\r\nwo\r\nrl\r\n000\r\nA: "
    "b\r\nC:\r\n\r\n";

}  // namespace

TEST_CASE("chunks give the same body, however they are cut", "[http]") {
  const Decoded whole = decode(kBody + "GET /");
  CHECK(whole == Decoded{"hello wo\r\nrl", 200, kBody.size()});
  for (std::size_t piece = 1; piece < kBody.size(); ++piece) {
    CAPTURE(piece);
    REQUIRE(decode(kBody + "GET /", piece) == whole);
  }
  for (std::size_t size = 0; size < kBody.size(); ++size)
    REQUIRE(decode(kBody.substr(0, size)).status == 0);
}

TEST_CASE("a chunk's size may have 16 digits, and be larger than any memory", "[http]") {
  CHECK(decode("ffffffffffffffff\r\nab") == Decoded{"ab", 0, 20});
  CHECK(decode("0ffffffffffffffff\r\n").status == 400);
  CHECK(decode("10000000000000000\r\n").status == 400);
  CHECK(decode("aF\r\n").status == 0);
}

TEST_CASE("malformed chunks are refused with 400, however they are cut", "[http]") {
  for (const std::string_view text : {"\r\n"sv,
                                      "\n"sv,
                                      "x\r\n"sv,
                                      " 5\r\n"sv,
                                      "5 \r\n"sv,
                                      "\t5\r\n"sv,
                                      "5\t;a\r\n"sv,
                                      "0x5\r\n"sv,
                                      "+5\r\n"sv,
                                      "-2\r\n"sv,
                                      ";a\r\n"sv,
                                      "5\n"sv,
                                      "5\rhello"sv,
                                      "5\r\r\n"sv,
                                      "5,\r\n"sv,
                                      "5.\r\n"sv,
                                      "5;a\nhello"sv,
                                      "5;a\rb\r\n"sv,
                                      "5;\0\r\n"sv,
                                      "5;\x7f\r\n"sv,
                                      "5\r\nhelloX"sv,
                                      "5\r\nhello\n"sv,
                                      "5\r\nhelloXX"sv,
                                      "5\r\nhello\rX"sv,
                                      "5\r\nhello0\r\n"sv,
                                      "5\r\nhello\r\n\r\n"sv,
                                      "0\n"sv,
                                      "0\r\n\n"sv,
                                      "0\r\n\rX"sv,
                                      "0\r\n\0"sv,
                                      "0\r\n A: b\r\n"sv,
                                      "0\r\nA\r\n"sv,
                                      "0\r\n: b\r\n"sv,
                                      "0\r\nA : b\r\n"sv,
                                      "0\r\nA: b\n"sv,
                                      "0\r\nA: b\r\n c\r\n"sv,
                                      "0\r\nA: \0"sv,
                                      "0\r\nA: b\rc"sv,
                                      "0\r\nGET / HTTP/1.1\r\n"sv}) {
    CAPTURE(text);
    CHECK(decode(text).status == 400);
    CHECK(decode(text, 1).status == 400);
  }
}

TEST_CASE("extensions and trailers of a body have the limits of a head", "[http]") {
  const auto extension = [](std::size_t size) {
    return "1;" + std::string(size - 1, 'a') + "\r\nx\r\n";
  };
  CHECK(decode(extension(16384)).status == 0);
  CHECK(decode(extension(16385)).status == 431);
  CHECK(decode(extension(16000) + extension(384)).status == 0);
  CHECK(decode(extension(16000) + extension(385)).status == 431);
  const auto trailer = [](std::size_t size) { return "A: " + std::string(size - 5, 'a') + "\r\n"; };
  CHECK(decode("0\r\n" + trailer(16384) + "\r\n").status == 200);
  CHECK(decode("0\r\n" + trailer(16385) + "\r\n").status == 431);
  CHECK(decode(extension(384) + "0\r\n" + trailer(16000) + "\r\n").status == 200);
  CHECK(decode(extension(384) + "0\r\n" + trailer(16001) + "\r\n").status == 431);
}

TEST_CASE("a hundred trailers are taken, one more is too many", "[http]") {
  std::string trailers;
  for (int i = 0; i < 100; ++i) trailers += "A: b\r\n";
  CHECK(decode("0\r\n" + trailers + "\r\n").status == 200);
  CHECK(decode("0\r\n" + trailers + "A: b\r\n\r\n").status == 431);
}

TEST_CASE("many chunks without extensions have no limit", "[http]") {
  std::string stream;
  for (int i = 0; i < 20'000; ++i) stream += "1\r\nx\r\n";
  CHECK(decode(stream + "0\r\n\r\n") == Decoded{std::string(20'000, 'x'), 200, 120'005});
}
