#include "wire/line_buffer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.h"

using wire::LineBuffer;

namespace {

struct Cut {
  std::vector<std::string> lines;
  bool is_too_long = false;

  bool operator==(const Cut&) const = default;
};

// Feeds `stream` in pieces of the given size, and takes the lines as soon as they are complete.
Cut cut(const std::string& stream, std::size_t piece_bytes) {
  LineBuffer buffer;
  Cut result;
  for (std::size_t at = 0; at < stream.size() && !result.is_too_long;) {
    const auto space = buffer.free_space();
    const std::size_t size = std::min({piece_bytes, space.size(), stream.size() - at});
    stream.copy(space.data(), size, at);
    buffer.received(size);
    at += size;
    std::string_view line;
    LineBuffer::Next next{};
    while ((next = buffer.next(line)) == LineBuffer::Next::kLine) result.lines.emplace_back(line);
    result.is_too_long = next == LineBuffer::Next::kTooLong;
  }
  return result;
}

}  // namespace

TEST_CASE("a stream gives the same lines, however its bytes arrive", "[wire]") {
  std::string stream = "ping\nget:a:b\r\n\n\r\nx\r\r\na\rb\n";
  for (int i = 0; i < 300; ++i) stream += std::string(static_cast<std::size_t>(i), 'n') + "\n";
  const Cut whole = cut(stream, stream.size());
  REQUIRE(whole.lines.size() == 306);
  CHECK(whole.lines[1] == "get:a:b");
  CHECK(whole.lines[2].empty());
  CHECK(whole.lines[3].empty());
  CHECK(whole.lines[4] == "x\r");
  CHECK(whole.lines[5] == "a\rb");
  for (std::size_t piece = 1; piece < 600; ++piece) {
    CAPTURE(piece);
    REQUIRE(cut(stream, piece) == whole);
  }
}

TEST_CASE("a line of 512 bytes with its ending is a line, one byte more is too long", "[wire]") {
  for (std::size_t piece :
       {std::size_t{1}, std::size_t{511}, std::size_t{512}, std::size_t{5000}}) {
    CAPTURE(piece);
    CHECK(cut(std::string(511, 'x') + "\n", piece) == Cut{{std::string(511, 'x')}, false});
    CHECK(cut(std::string(510, 'x') + "\r\n", piece) == Cut{{std::string(510, 'x')}, false});
    CHECK(cut(std::string(512, 'x') + "\n", piece) == Cut{{}, true});
    CHECK(cut(std::string(511, 'x') + "\r\n", piece) == Cut{{}, true});
  }
}

TEST_CASE("a line is too long as soon as 512 bytes have arrived without an LF", "[wire]") {
  CHECK(cut(std::string(511, 'x'), 1) == Cut{{}, false});
  CHECK(cut(std::string(512, 'x'), 1) == Cut{{}, true});
}

TEST_CASE("the lines before one that is too long are still returned", "[wire]") {
  CHECK(cut("a\nb\n" + std::string(600, 'x'), 10'000) == Cut{{"a", "b"}, true});
}

TEST_CASE("a line is overwritten when the next one is requested", "[wire]") {
  LineBuffer buffer;
  const std::string stream = "get:alice:secret\nping\n";
  stream.copy(buffer.free_space().data(), stream.size());
  buffer.received(stream.size());
  std::string_view first;
  std::string_view second;
  REQUIRE(buffer.next(first) == LineBuffer::Next::kLine);
  REQUIRE(first == "get:alice:secret");
  REQUIRE(buffer.next(second) == LineBuffer::Next::kLine);
  CHECK(second == "ping");
  CHECK(first == std::string(first.size(), '\0'));
}

TEST_CASE("has_next tells whether next has something to return", "[wire]") {
  LineBuffer buffer;
  CHECK_FALSE(buffer.has_next());
  buffer.free_space()[0] = 'a';
  buffer.received(1);
  CHECK_FALSE(buffer.has_next());
  buffer.free_space()[0] = '\n';
  buffer.received(1);
  CHECK(buffer.has_next());
}

TEST_CASE("a line that is taken too leaves the lines before it valid, until the next one",
          "[wire]") {
  LineBuffer buffer;
  const std::string stream = "auth:a:secret\nauth:b:secret\nping\nauth:c";
  stream.copy(buffer.free_space().data(), stream.size());
  buffer.received(stream.size());
  std::string_view first;
  std::string_view second;
  REQUIRE(buffer.next(first) == LineBuffer::Next::kLine);
  const auto take = [&](std::string_view line) {
    second = line;
    return line.starts_with("auth:");
  };
  REQUIRE(buffer.take_too(take));
  const std::string_view taken = second;
  CHECK(first == "auth:a:secret");
  CHECK(taken == "auth:b:secret");
  CHECK_FALSE(buffer.take_too(take));
  std::string_view third;
  REQUIRE(buffer.next(third) == LineBuffer::Next::kLine);
  CHECK(third == "ping");
  CHECK(first == std::string(first.size(), '\0'));
  CHECK(taken == std::string(taken.size(), '\0'));
  CHECK_FALSE(buffer.take_too(take));  // it is not complete
}

TEST_CASE("a reply is complete with its content, however it is cut", "[wire]") {
  const std::string stream = "OK 5\nab\ncdOK\nERR denied x\nOK 0\n";
  LineBuffer buffer;
  std::string all;
  std::string_view line;
  std::string_view content;
  for (const char byte : stream) {
    buffer.free_space()[0] = byte;
    buffer.received(1);
    const bool has_next = buffer.has_next_reply();
    const auto next = buffer.next_reply(line, content);
    CHECK(has_next == (next == LineBuffer::Next::kLine));
    if (next == LineBuffer::Next::kLine) all.append(line).append("[").append(content).append("]");
  }
  CHECK(all == "OK 5[ab\ncd]OK[]ERR denied x[]OK 0[]");
}

TEST_CASE("a content that is too long is no reply", "[wire]") {
  for (const std::string reply : {"OK 129\n", "OK 18446744073709551615\n"}) {
    LineBuffer buffer;
    reply.copy(buffer.free_space().data(), reply.size());
    buffer.received(reply.size());
    std::string_view line;
    std::string_view content;
    CHECK(buffer.has_next_reply());
    CHECK(buffer.next_reply(line, content) == LineBuffer::Next::kTooLong);
  }
}
