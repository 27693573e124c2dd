#include "loadgen/figures/histogram.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/catch.h"
#include "tests/loadgen/compare.h"

using loadgen::Bucket;
using loadgen::Histogram;
using tests::is_near;

namespace {

constexpr unsigned kPerMilles[] = {1, 10, 250, 500, 900, 990, 999, 1000};

Histogram histogram_of(const std::vector<std::int64_t>& values) {
  Histogram made;
  for (const std::int64_t value : values) made.add(value);
  return made;
}

// The value at rank ceil(count * per_mille / 1000), counted from 1.
std::int64_t exact_value_at(const std::vector<std::int64_t>& sorted, unsigned per_mille) {
  return sorted[(sorted.size() * per_mille + 999) / 1000 - 1];
}

void check_against_sorting(std::vector<std::int64_t> values) {
  const Histogram histogram = histogram_of(values);
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const std::int64_t value : values) sum += static_cast<double>(value);
  CHECK(histogram.count() == values.size());
  CHECK(histogram.min() == values.front());
  CHECK(histogram.max() == values.back());
  CHECK(is_near(histogram.mean(), sum / static_cast<double>(values.size())));
  for (const unsigned per_mille : kPerMilles) {
    const auto exact = static_cast<double>(exact_value_at(values, per_mille));
    CAPTURE(per_mille, exact);
    CHECK(std::abs(static_cast<double>(histogram.value_at(per_mille)) - exact) <= 0.008 * exact);
  }
}

// Values distributed like response times: most are close together, a few are far larger.
std::vector<std::int64_t> long_tailed(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> nanoseconds(11, 1.5);
  std::vector<std::int64_t> values(count);
  for (std::int64_t& value : values) value = static_cast<std::int64_t>(nanoseconds(random));
  return values;
}

}  // namespace

TEST_CASE("a histogram agrees with exact sorting to within 0.8%", "[loadgen]") {
  for (const std::size_t count : {1U, 2U, 3U, 10U, 999U, 1000U, 1001U, 100'000U}) {
    CAPTURE(count);
    check_against_sorting(long_tailed(count, 7));
  }
}

TEST_CASE("a histogram keeps values of every magnitude to within 0.8%", "[loadgen]") {
  for (int bit = 0; bit < 63; ++bit) {
    const std::int64_t power = std::int64_t{1} << bit;
    // The fourth one is at the upper end of the first bucket of its octave, the widest for its
    // size.
    for (const std::int64_t value :
         {power - 1, power, power + power / 3, power + (power >> 6) - 1, power + (power - 1)}) {
      CAPTURE(value);
      // The outliers on both sides make sure that the result is not clamped to min() or max().
      const auto kept = static_cast<double>(histogram_of({0, value, INT64_MAX}).value_at(500));
      CHECK(std::abs(kept - static_cast<double>(value)) <= 0.008 * static_cast<double>(value));
    }
  }
}

TEST_CASE("small values are kept exactly", "[loadgen]") {
  for (std::int64_t value = 0; value < 128; ++value)
    CHECK(histogram_of({0, value, 1000}).value_at(500) == value);
}

TEST_CASE("no percentile is outside of the smallest and largest value", "[loadgen]") {
  const Histogram one = histogram_of({1'000'003});
  for (const unsigned per_mille : kPerMilles) CHECK(one.value_at(per_mille) == 1'000'003);
}

TEST_CASE("an empty histogram returns 0", "[loadgen]") {
  const Histogram empty;
  CHECK(empty.count() == 0);
  CHECK(empty.min() == 0);
  CHECK(empty.max() == 0);
  CHECK(empty.mean() == 0);
  CHECK(empty.value_at(500) == 0);
}

TEST_CASE("every value is in the bucket that ends at or above it and above the one before",
          "[loadgen][no-threads]") {
  const auto values = long_tailed(10'000, 3);
  for (const std::int64_t value : values) {
    CAPTURE(value);
    const auto buckets = histogram_of({value}).buckets();
    REQUIRE(buckets.size() == 1);
    const std::int64_t upper = buckets[0].upper;
    CHECK(buckets[0].count == 1);
    CHECK(upper >= value);
    CHECK(static_cast<double>(upper) <= 1.016 * static_cast<double>(value));
    CHECK(histogram_of({upper}).buckets() == buckets);
    CHECK(histogram_of({upper + 1}).buckets()[0].upper > upper);
  }
}

TEST_CASE("the largest value of all has a bucket that ends with it", "[loadgen]") {
  CHECK(histogram_of({INT64_MAX}).buckets() == std::vector<Bucket>{{INT64_MAX, 1}});
}

TEST_CASE("the buckets of a histogram make the same histogram", "[loadgen]") {
  const Histogram whole = histogram_of(long_tailed(5000, 4));
  const Histogram copy(whole.buckets(), {whole.min(), whole.max(), whole.sum()});
  CHECK(copy.count() == whole.count());
  CHECK(copy.buckets() == whole.buckets());
  CHECK(copy.mean() == whole.mean());
  for (const unsigned per_mille : kPerMilles)
    CHECK(copy.value_at(per_mille) == whole.value_at(per_mille));
}

TEST_CASE("a histogram of no bucket is empty", "[loadgen]") {
  const Histogram none(std::vector<Bucket>(), {5, 7, 12});
  CHECK(none.count() == 0);
  CHECK(none.min() == 0);
  CHECK(none.max() == 0);
  CHECK(none.sum() == 0);
}

TEST_CASE("the buckets without a part are those of the other values", "[loadgen]") {
  const auto some = long_tailed(1000, 5);
  const auto others = long_tailed(500, 6);
  Histogram whole = histogram_of(some);
  whole.add(histogram_of(others));
  CHECK(whole.buckets_without(histogram_of(others)) == histogram_of(some).buckets());
  CHECK(whole.buckets_without(whole).empty());
}

TEST_CASE("the standard deviation is that of all values to within 2%", "[loadgen]") {
  const auto values = long_tailed(20'000, 8);
  const Histogram histogram = histogram_of(values);
  double squares = 0;
  for (const std::int64_t value : values)
    squares += std::pow(static_cast<double>(value) - histogram.mean(), 2);
  const double exact = std::sqrt(squares / static_cast<double>(values.size()));
  CHECK(std::abs(histogram.standard_deviation() - exact) <= 0.02 * exact);
  CHECK(histogram_of({1'000'003}).standard_deviation() == 0);
  CHECK(Histogram().standard_deviation() == 0);
}

TEST_CASE("histograms added up are the histogram of all values", "[loadgen]") {
  const auto some = long_tailed(1000, 1);
  const auto others = long_tailed(500, 2);
  std::vector<std::int64_t> all = some;
  all.insert(all.end(), others.begin(), others.end());

  Histogram sum = histogram_of(some);
  sum.add(histogram_of(others));
  sum.add(Histogram());
  const Histogram whole = histogram_of(all);
  CHECK(sum.count() == whole.count());
  CHECK(sum.sum() == whole.sum());
  CHECK(sum.min() == whole.min());
  CHECK(sum.max() == whole.max());
  for (const unsigned per_mille : kPerMilles)
    CHECK(sum.value_at(per_mille) == whole.value_at(per_mille));
}
