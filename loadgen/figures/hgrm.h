// The distribution of the response times as text, for --distribution.
#pragma once

#include <string>

#include "loadgen/figures/histogram.h"

namespace loadgen {

// The text form of HdrHistogram, which its plotter and other tools read (.hgrm): five percentiles
// until half of the remaining distance to 100% is passed, then five for half of what is left, and
// so on up to the largest value. Values are milliseconds, each the upper end of its bucket.
//
// Requires: the values are nanoseconds.
std::string hgrm_of(const Histogram& histogram);

}  // namespace loadgen
