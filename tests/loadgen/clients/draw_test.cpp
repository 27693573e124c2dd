#include "loadgen/clients/draw.h"

#include <cstdint>
#include <set>
#include <vector>

#include "tests/catch.h"

using loadgen::Draw;
using loadgen::Drawn;

TEST_CASE("what is drawn is the same on every machine", "[loadgen]") {
  Draw draw(1, 0, 0, Drawn::kAccount);
  CHECK(draw.bits() == 17483285349468708307U);
  CHECK(draw.bits() == 16295781202236360825U);
  CHECK(Draw(1, 0, 0, Drawn::kAccount).bits() == 17483285349468708307U);
}

TEST_CASE("each seed, stream, request and thing has numbers of its own", "[loadgen]") {
  std::set<std::uint64_t> seen;
  for (const int seed : {0, 1, 1'000'000'000}) {
    for (const int stream : {0, 1, 99'999}) {
      for (const std::int64_t request : {0, 1, 2, 1'000'000}) {
        for (const Drawn what : {Drawn::kAccount, Drawn::kFile, Drawn::kKind, Drawn::kPause}) {
          Draw draw(seed, stream, request, what);
          CHECK(seen.insert(draw.bits()).second);
          CHECK(seen.insert(draw.bits()).second);
        }
      }
    }
  }
}

TEST_CASE("each number from one to the count is as likely as the others", "[loadgen][no-threads]") {
  constexpr int kCount = 7;
  constexpr int kEach = 10'000;
  std::vector<int> drawn(kCount + 1);
  for (int request = 0; request < kCount * kEach; ++request) {
    const std::int64_t number = Draw(3, 5, request, Drawn::kFile).from_one_to(kCount);
    REQUIRE(number >= 1);
    REQUIRE(number <= kCount);
    ++drawn[static_cast<std::size_t>(number)];
  }
  double chi_squared = 0;
  for (int number = 1; number <= kCount; ++number) {
    const double over = drawn[static_cast<std::size_t>(number)] - kEach;
    chi_squared += over * over / kEach;
  }
  CHECK(chi_squared < 22.5);  // exceeded by 1 of 1,000 seeds
}
