#include "http/input_buffer.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "tests/catch.h"

namespace {

void put(http::InputBuffer& buffer, std::string_view bytes, std::size_t most = 16'384) {
  while (!bytes.empty()) {
    const std::span<char> space = buffer.free_space(most);
    REQUIRE_FALSE(space.empty());
    const std::size_t size = bytes.copy(space.data(), space.size());
    buffer.received(size);
    bytes.remove_prefix(size);
  }
}

}  // namespace

TEST_CASE("an input buffer gives back what it was given, in any pieces", "[http]") {
  for (const std::size_t piece : {1U, 7U, 1000U, 1536U, 5000U}) {
    CAPTURE(piece);
    http::InputBuffer buffer;
    std::string given;
    std::string taken;
    for (std::size_t i = 0; i < 60; ++i) {
      const std::string bytes(piece, static_cast<char>('a' + i % 26));
      given += bytes;
      put(buffer, bytes);
      const std::size_t used = buffer.pending().size() * 2 / 3;
      taken += buffer.pending().substr(0, used);
      buffer.consume(used);
    }
    taken += buffer.pending();
    CHECK(taken == given);
  }
}

TEST_CASE("an input buffer grows up to its limit, and shrinks when it is empty", "[http]") {
  http::InputBuffer buffer;
  const std::size_t in_place = buffer.free_space(16'384).size();
  const std::string bytes(16'384, 'x');
  put(buffer, bytes);
  CHECK(buffer.pending() == bytes);
  CHECK(buffer.free_space(16'384).empty());
  buffer.shrink();
  CHECK(buffer.pending() == bytes);
  buffer.consume(bytes.size());
  buffer.shrink();
  CHECK(buffer.free_space(16'384).size() == in_place);
}

TEST_CASE("what is consumed is overwritten, and so is what has moved", "[http]") {
  http::InputBuffer buffer;
  put(buffer, "secret");
  const char* const place = buffer.pending().data();
  buffer.consume(6);
  CHECK(std::all_of(place, place + 6, [](char byte) { return byte == 0; }));
  put(buffer, "another secret");
  const char* const moved_from = buffer.pending().data();
  buffer.reserve(4096);
  CHECK(buffer.pending() == "another secret");
  CHECK(std::all_of(moved_from, moved_from + 14, [](char byte) { return byte == 0; }));
}

TEST_CASE("what nobody consumed is overwritten in the end", "[http]") {
  alignas(http::InputBuffer) std::array<char, sizeof(http::InputBuffer)> place{};
  auto* const buffer = new (place.data()) http::InputBuffer;
  put(*buffer, "secret");
  const std::string_view bytes(place.data(), place.size());
  CHECK(bytes.find("secret") != bytes.npos);
  std::destroy_at(buffer);
  CHECK(bytes.find("secret") == bytes.npos);
}
