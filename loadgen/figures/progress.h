// Shows on the terminal how a run goes.
#pragma once

#include <string>
#include <vector>

#include "loadgen/figures/recorder.h"

namespace loadgen {

// Returns one bar for each value. The bar's height is the value relative to the highest value.
// Requires: no value is negative.
std::string sparkline(const std::vector<double>& values);

// Writes one line that is overwritten every second, and erases it at the end. Writes nothing if
// standard error is not a terminal.
//
// One thread.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows the last second. `so_far` is the total since the start of the measured window.
  void show(int elapsed_s, const Live& so_far);

  // Writes a line that stays, whether or not standard error is a terminal. `line` has its ending.
  void tell(const std::string& line) const;

 private:
  const bool is_shown_;
  Live before_;
  std::vector<double> rates_;  // requests in each of the last seconds
};

}  // namespace loadgen
