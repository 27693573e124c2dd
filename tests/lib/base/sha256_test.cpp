#include "base/sha256.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "tests/catch.h"

namespace {

// As sha256sum prints it.
std::string hex_of(std::string_view bytes, std::size_t piece_bytes) {
  base::Sha256 sha256;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece_bytes, bytes.size())))
    sha256.add(bytes.substr(0, piece_bytes));
  return fmt::format("{:02x}", fmt::join(sha256.finish(), ""));
}

}  // namespace

// The examples of FIPS 180-2.
TEST_CASE("a sha-256 is that of all bytes, in whatever pieces they come", "[sha256]") {
  for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{63}, std::size_t{1} << 20}) {
    CHECK(hex_of("", piece_bytes) ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(hex_of("abc", piece_bytes) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(hex_of(std::string(1'000'000, 'a'), piece_bytes) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}
