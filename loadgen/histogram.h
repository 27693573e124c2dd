// How often each value occurred, in buckets that are narrow where values are small: every value is
// kept to within 0.8%.
#pragma once

#include <cstdint>
#include <vector>

namespace loadgen {

// One thread.
class Histogram {
 public:
  Histogram();

  // Requires: value >= 0.
  void add(std::int64_t value);
  void add(const Histogram& other);

  std::uint64_t count() const { return count_; }

  // Exact; 0 when there is no value.
  std::int64_t min() const { return count_ == 0 ? 0 : min_; }
  std::int64_t max() const { return max_; }
  std::uint64_t sum() const { return sum_; }
  double mean() const;

  // The value at rank ceil(count * per_mille / 1000) of all values in order, to within 0.8%; 500 is
  // the median. 0 when there is no value. Requires: 1 <= per_mille <= 1000.
  std::int64_t value_at(unsigned per_mille) const;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::int64_t min_ = INT64_MAX;
  std::int64_t max_ = 0;
};

}  // namespace loadgen
