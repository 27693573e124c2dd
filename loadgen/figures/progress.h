// Shows on the terminal how a run goes.
#pragma once

#include <string>
#include <vector>

#include "loadgen/figures/crowd.h"
#include "loadgen/figures/recorder.h"

namespace loadgen {

// Returns one bar for each value. The bar's height is the value relative to the highest value.
// Requires: no value is negative.
std::string sparkline(const std::vector<double>& values);

// The line of a crowd, which has read `bytes` in the last second, without its bars.
std::string crowd_line(int elapsed_s, const crowd::Standing& users, std::uint64_t bytes);

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

  // The same for a crowd; its users have read `bytes` in all.
  void show(int elapsed_s, const crowd::Standing& users, std::uint64_t bytes);

 private:
  void add(double rate);

  const bool is_shown_;
  Live before_;
  std::uint64_t bytes_before_ = 0;
  std::vector<double> rates_;  // requests in each of the last seconds, or bytes of a crowd
};

}  // namespace loadgen
