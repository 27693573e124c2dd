// How often something may happen.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace base {

// Allows `burst` events at once, and then one more after each `interval_ns`.
//
// Threads: any; processes too, if it is in memory that they share. It is one atomic and takes no
// lock.
class Allowance {
 public:
  // Requires: burst > 0, interval_ns > 0.
  Allowance(std::int64_t burst, std::int64_t interval_ns)
      : window_ns_(burst * interval_ns), interval_ns_(interval_ns) {}

  // Whether one more event is allowed at this moment; then it counts.
  bool take(std::int64_t now_ns) {
    std::int64_t used_until_ns = used_until_ns_.load(std::memory_order_relaxed);
    for (;;) {
      const std::int64_t next = std::max(used_until_ns, now_ns) + interval_ns_;
      if (next - now_ns > window_ns_) return false;
      if (used_until_ns_.compare_exchange_weak(used_until_ns, next, std::memory_order_relaxed))
        return true;
    }
  }

 private:
  const std::int64_t window_ns_;
  const std::int64_t interval_ns_;

  // When all events that happened are forgotten. Each adds an interval.
  std::atomic<std::int64_t> used_until_ns_ = INT64_MIN / 2;
};

}  // namespace base
