// When the number of users is stable, so that a run can end.
#pragma once

#include <cstdint>

#include "loadgen/figures/crowd.h"

namespace loadgen::crowd {

// All users were started, each that is left has ended a fetch, and the number that is left has not
// changed for a time. If none is left, there is nothing to wait for.
//
// One thread.
class Stability {
 public:
  Stability(int users, std::int64_t stable_ns) : users_(users), stable_ns_(stable_ns) {}

  // Returns whether the number is stable now. Times may have any start and do not go back.
  bool observe(std::int64_t now_ns, const Standing& standing);

 private:
  const int users_;
  const std::int64_t stable_ns_;
  int left_ = -1;
  std::int64_t changed_ns_ = 0;  // when `left_` began, but not before all users were started
};

}  // namespace loadgen::crowd
