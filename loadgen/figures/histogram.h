// Counts values, so that percentiles can be computed without storing each value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace loadgen {

// The values of a histogram that are not told apart: those up to `upper`, and above the bucket
// before. Other histograms have the same buckets.
struct Bucket {
  std::int64_t upper = 0;
  std::uint64_t count = 0;

  bool operator==(const Bucket&) const = default;
};

// What a histogram knows exactly, and buckets do not tell.
struct Exact {
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::uint64_t sum = 0;
};

// The width of a bucket grows with its values, so every value is kept to within 0.8% of itself. The
// size is fixed: 3,712 buckets, 29 KB, for all values of 63 bits.
//
// One thread.
class Histogram {
 public:
  Histogram();

  // The histogram that buckets() was taken from. An `upper` that ends no bucket stands for the
  // bucket that it is in. Requires: no `upper` is negative, and the counts add up to 64 bits.
  Histogram(std::span<const Bucket> buckets, const Exact& exact);

  // Requires: value >= 0.
  void add(std::int64_t value);

  // Adds all values of `other`.
  void add(const Histogram& other);

  std::uint64_t count() const { return count_; }

  // These are exact, and 0 if there is no value.
  std::int64_t min() const { return count_ == 0 ? 0 : min_; }
  std::int64_t max() const { return max_; }
  std::uint64_t sum() const { return sum_; }
  double mean() const;

  // Returns a percentile: the value at rank ceil(count * per_mille / 1000) in ascending order, to
  // within 0.8%. So 500 gives the median. Returns 0 if there is no value.
  // Requires: 1 <= per_mille <= 1000.
  std::int64_t value_at(unsigned per_mille) const;

  // Whether a value lies beyond a percentile: at least one of each 10, 100 or 1,000 for 900, 990 or
  // 999. Otherwise the percentile is the maximum by another name.
  bool knows(unsigned per_mille) const { return count_ * (1000 - per_mille) >= 1000; }

  // The buckets that have values, in ascending order.
  std::vector<Bucket> buckets() const;

  // The same for the values that `part` does not have. Requires: this one has all values of `part`.
  std::vector<Bucket> buckets_without(const Histogram& part) const;

  // The distance of the values from their mean (the root of its mean square), by the middles of
  // their buckets.
  double standard_deviation() const;

  // How the buckets divide the values, for files that say so.
  static int octaves();
  static int buckets_per_octave();

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::int64_t min_ = INT64_MAX;
  std::int64_t max_ = 0;
};

}  // namespace loadgen
