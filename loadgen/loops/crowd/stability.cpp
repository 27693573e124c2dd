#include "loadgen/loops/crowd/stability.h"

namespace loadgen::crowd {

bool Stability::observe(std::int64_t now_ns, const Standing& standing) {
  if (standing.started < users_) return false;
  if (standing.left == 0) return true;
  if (standing.left != left_) {
    left_ = standing.left;
    changed_ns_ = now_ns;
  }
  return standing.without_fetch == 0 && now_ns - changed_ns_ >= stable_ns_;
}

}  // namespace loadgen::crowd
