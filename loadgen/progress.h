// One line on the terminal while a run goes on.
#pragma once

#include <string>
#include <vector>

#include "loadgen/recorder.h"

namespace loadgen {

// Bars from low to high, one for each value; the highest value has the highest bar.
std::string sparkline(const std::vector<double>& values);

// One thread. Silent unless standard error is a terminal; leaves no trace there when it ends.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Once a second: what has happened since the run began.
  void show(int elapsed_s, const Live& so_far);

 private:
  const bool is_shown_;
  Live before_;
  std::vector<double> rates_;  // of the last seconds
};

}  // namespace loadgen
