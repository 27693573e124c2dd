// `loadgen merge`: one result of many testers.
#pragma once

#include "loadgen/merge/options.h"

namespace loadgen::merge {

// Reads the results, writes their sum and prints its table. Returns the exit status: that of a run
// with this result, and 1 if a file cannot be read, added up or written.
int run(const Options& options);

}  // namespace loadgen::merge
