#include "base/clock.h"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <climits>

#include "base/waits.h"

namespace base {

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNsPerS + now.tv_nsec;
}

double unix_time_s() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

std::int64_t thread_cpu_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * kNsPerS + used.tv_nsec;
}

void pause_ms(int ms) {
  if (my_waits != nullptr) return my_waits->pause_until(now_ns() + ms * kNsPerMs);
  ::poll(nullptr, 0, ms);
}

int Deadline::left_ms() const {
  if (is_never()) return -1;
  const std::int64_t left_ms = (at_ns_ - now_ns() + kNsPerMs - 1) / kNsPerMs;
  return static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, INT_MAX));
}

}  // namespace base
