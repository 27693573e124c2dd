#include "loadgen/cpu.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace loadgen {

namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double cores_of_affinity() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

double process_cpu_s() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

double allowed_cores() {
  // "max 100000", or microseconds of CPU for each period.
  std::ifstream quota_file("/sys/fs/cgroup/cpu.max");
  double quota = 0;
  double period = 0;
  if (quota_file >> quota >> period && period > 0)
    return std::min(cores_of_affinity(), quota / period);
  return cores_of_affinity();
}

bool CpuUse::is_bottleneck(int threads) const {
  return used_cores > 0.9 * std::min(allowed_cores, static_cast<double>(threads));
}

}  // namespace loadgen
