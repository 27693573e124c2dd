#include "loadgen/cpu.h"

#include <sys/resource.h>

#include <algorithm>

namespace loadgen {

namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

double process_cpu_s() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

bool CpuUse::is_bottleneck(int threads) const {
  return used_cores > 0.9 * std::min(allowed_cores, static_cast<double>(threads));
}

}  // namespace loadgen
