#include "loadgen/figures/histogram.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace loadgen {

namespace {

// The values between two powers of two (an octave) are divided into this many buckets of equal
// width. Values below twice this number have a bucket of their own. A value is at most 1/128 of
// itself away from the middle of its bucket.
constexpr int kBucketBits = 6;
constexpr std::uint64_t kBucketsPerOctave = 1 << kBucketBits;
constexpr std::size_t kOctaves = 63 - kBucketBits;

std::size_t bucket_of(std::uint64_t value) {
  if (value < kBucketsPerOctave) return value;
  const auto shift = static_cast<unsigned>(std::bit_width(value)) - (kBucketBits + 1);
  return (shift + 1) * kBucketsPerOctave + ((value >> shift) - kBucketsPerOctave);
}

std::int64_t middle_of(std::size_t bucket) {
  if (bucket < 2 * kBucketsPerOctave) return static_cast<std::int64_t>(bucket);
  const auto shift = bucket / kBucketsPerOctave - 1;
  const std::uint64_t low = (bucket % kBucketsPerOctave + kBucketsPerOctave) << shift;
  return static_cast<std::int64_t>(low + (std::uint64_t{1} << shift) / 2);
}

// The largest value in it.
std::int64_t upper_of(std::size_t bucket) {
  if (bucket < 2 * kBucketsPerOctave) return static_cast<std::int64_t>(bucket);
  const auto shift = bucket / kBucketsPerOctave - 1;
  const std::uint64_t next = bucket % kBucketsPerOctave + kBucketsPerOctave + 1;
  return static_cast<std::int64_t>((next << shift) - 1);
}

}  // namespace

Histogram::Histogram() : buckets_((kOctaves + 1) * kBucketsPerOctave) {}

Histogram::Histogram(std::span<const Bucket> buckets, const Exact& exact) : Histogram() {
  for (const Bucket& bucket : buckets) {
    assert(bucket.upper >= 0);
    buckets_[bucket_of(static_cast<std::uint64_t>(bucket.upper))] += bucket.count;
    count_ += bucket.count;
  }
  if (count_ == 0) return;
  sum_ = exact.sum;
  min_ = exact.min;
  max_ = exact.max;
}

void Histogram::add(std::int64_t value) {
  assert(value >= 0);
  ++buckets_[bucket_of(static_cast<std::uint64_t>(value))];
  ++count_;
  sum_ += static_cast<std::uint64_t>(value);
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void Histogram::add(const Histogram& other) {
  for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double Histogram::mean() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

std::int64_t Histogram::value_at(unsigned per_mille) const {
  if (count_ == 0) return 0;
  const std::uint64_t rank = (count_ * per_mille + 999) / 1000;
  std::uint64_t passed = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    passed += buckets_[i];
    if (passed >= rank) return std::clamp(middle_of(i), min_, max_);
  }
  return max_;
}

std::vector<Bucket> Histogram::buckets() const { return buckets_without(Histogram()); }

std::vector<Bucket> Histogram::buckets_without(const Histogram& part) const {
  std::vector<Bucket> others;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const std::uint64_t count = buckets_[i] - part.buckets_[i];
    if (count > 0) others.push_back({upper_of(i), count});
  }
  return others;
}

double Histogram::standard_deviation() const {
  if (count_ == 0) return 0;
  double squares = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const double distance = static_cast<double>(std::clamp(middle_of(i), min_, max_)) - mean();
    squares += static_cast<double>(buckets_[i]) * distance * distance;
  }
  return std::sqrt(squares / static_cast<double>(count_));
}

int Histogram::octaves() { return static_cast<int>(kOctaves) + 1; }

int Histogram::buckets_per_octave() { return static_cast<int>(kBucketsPerOctave); }

}  // namespace loadgen
