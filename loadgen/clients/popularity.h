// How often each of many files is asked for.
#pragma once

#include <cstdint>

#include "loadgen/clients/draw.h"

namespace loadgen {

// Draws numbers from 1 to a count. The probability of k is proportional to k to the power of
// -exponent (Zipf's law): with exponent 0 all are alike, and the higher it is, the more often the
// first ones are drawn. The probabilities are exact but for the rounding of doubles.
//
// There is no table: it takes a few bytes and a few steps for each number, however many there are.
//
// Immutable once built.
class Popularity {
 public:
  // Requires: count >= 1, exponent >= 0.
  Popularity(std::int64_t count, double exponent);

  std::int64_t draw(Draw& random) const;

 private:
  double weight(double x) const;
  double area_to(double x) const;
  double end_of_area(double area) const;

  std::int64_t count_;
  double exponent_;
  double first_area_ = 0;
  double last_area_ = 0;
  double sure_distance_ = 0;
};

}  // namespace loadgen
