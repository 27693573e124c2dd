#include "loadgen/clients/popularity.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/catch.h"

using loadgen::Draw;
using loadgen::Drawn;
using loadgen::Popularity;

namespace {

constexpr int kDraws = 200'000;

// How often each of the first `shown` of `count` numbers was drawn; all others are in the last row.
std::vector<double> drawn_of(std::int64_t count, double exponent, std::int64_t shown) {
  const Popularity popularity(count, exponent);
  std::vector<double> drawn(static_cast<std::size_t>(shown) + 1);
  bool is_in_range = true;
  for (int request = 0; request < kDraws; ++request) {
    Draw random(1, 0, request, Drawn::kFile);
    const std::int64_t number = popularity.draw(random);
    is_in_range = is_in_range && number >= 1 && number <= count;
    ++drawn[static_cast<std::size_t>(std::clamp<std::int64_t>(number, 1, shown + 1)) - 1];
  }
  CHECK(is_in_range);
  return drawn;
}

// The same by Zipf's law, from its sums.
std::vector<double> expected_of(std::int64_t count, double exponent, std::int64_t shown) {
  std::vector<double> expected(static_cast<std::size_t>(shown) + 1);
  double sum = 0;
  for (std::int64_t number = count; number >= 1; --number) {
    const double weight = std::pow(static_cast<double>(number), -exponent);
    sum += weight;
    expected[static_cast<std::size_t>(std::min(number, shown + 1)) - 1] += weight;
  }
  for (double& one : expected) one *= kDraws / sum;
  return expected;
}

double chi_squared_of(std::int64_t count, double exponent, std::int64_t shown) {
  const auto drawn = drawn_of(count, exponent, shown);
  const auto expected = expected_of(count, exponent, shown);
  double sum = 0;
  for (std::size_t row = 0; row < drawn.size(); ++row) {
    const double over = drawn[row] - expected[row];
    sum += expected[row] > 0 ? over * over / expected[row] : drawn[row];
  }
  return sum;
}

}  // namespace

TEST_CASE("files are drawn as often as Zipf's law says", "[loadgen]") {
  // With 9 degrees of freedom, 1 of 1,000 seeds exceeds 27.9.
  for (const double exponent : {0.0, 0.3, 0.9, 1.0, 1.0000001, 1.5, 2.0})
    CHECK(chi_squared_of(10, exponent, 10) < 27.9);
}

TEST_CASE("the popularity of ten million files is as exact as that of ten",
          "[loadgen][no-threads]") {
  for (const double exponent : {0.6, 0.9, 1.0, 1.2})
    CHECK(chi_squared_of(10'000'000, exponent, 9) < 27.9);
}

TEST_CASE("one file is always drawn", "[loadgen]") {
  for (const double exponent : {0.0, 1.0, 3.0}) CHECK(drawn_of(1, exponent, 1)[0] == kDraws);
}
