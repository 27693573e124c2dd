#include "loadgen/loops/crowd/stability.h"

namespace loadgen::crowd {

bool Stability::observe(std::int64_t now_ns, const Standing& standing) {
  if (standing.started < users_) return false;
  if (standing.held == 0) return true;
  if (standing.held != held_) {
    held_ = standing.held;
    changed_ns_ = now_ns;
  }
  return standing.without_fetch == 0 && now_ns - changed_ns_ >= stable_ns_;
}

}  // namespace loadgen::crowd
