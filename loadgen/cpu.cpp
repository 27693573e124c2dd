#include "loadgen/cpu.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "base/clock.h"
#include "base/host.h"

namespace loadgen {

namespace {

double cpu_seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

double process_cpu_s() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return cpu_seconds(used.ru_utime) + cpu_seconds(used.ru_stime);
}

double threads_run_delay_s(pid_t watch) {
  const auto main_name = std::to_string(::getpid());
  const auto watch_name = std::to_string(watch);
  double delay_ns = 0;
  std::error_code ignored;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    const auto name = thread.path().filename();
    if (name == main_name || name == watch_name) continue;
    // Nanoseconds on a core, nanoseconds ready to run without one, and a count.
    double running = 0;
    double delayed = 0;
    if (std::ifstream(thread.path() / "schedstat") >> running >> delayed) delay_ns += delayed;
  }
  return delay_ns / 1e9;
}

CpuTime cpu_time(pid_t watch) {
  return {base::now_ns(), process_cpu_s(), threads_run_delay_s(watch)};
}

CpuUse cpu_use(const CpuTime& before, const CpuTime& after, double elapsed_s,
               std::uint64_t requests, int threads) {
  CpuUse use{.allowed_cores = base::usable_cores()};
  const double over_s = static_cast<double>(after.read_ns - before.read_ns) / 1e9;
  if (over_s <= 0) return use;
  use.used_cores = (after.used_s - before.used_s) / over_s;
  const double delay_s = (after.delay_s - before.delay_s) / over_s;  // in each second
  use.run_delay_share = delay_s / threads;
  if (requests > 0) {
    const double s_per_request = elapsed_s / static_cast<double>(requests);
    use.us_per_request = use.used_cores * s_per_request * 1e6;
    use.run_delay_ms_per_request = delay_s * s_per_request * 1e3;
  }
  return use;
}

bool CpuUse::is_bottleneck(int threads) const {
  return used_cores > 0.9 * std::min(allowed_cores, static_cast<double>(threads));
}

}  // namespace loadgen
