#include "base/host.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <thread>

namespace base {

namespace {

// ThreadSanitizer keeps more than half a megabyte of its own on each stack. Without room for it no
// thread starts.
#if defined(TURNSTILE_SANITIZE_THREAD)
constexpr std::size_t kStackBytes = 4096 * 1024;
#else
// Enough for a database client library, and for AddressSanitizer.
constexpr std::size_t kStackBytes = 512 * 1024;
#endif

// cgroup v2 has one hierarchy for all controllers; its line in /proc/self/cgroup names none.
constexpr std::string_view kAllControllers;

// Whether a list such as "cpu,cpuacct" contains the controller.
bool is_in_list(std::string_view list, std::string_view controller) {
  for (;;) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == controller) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

// Returns the process's group in the hierarchy of the controller, such as
// "/system.slice/my.service". The file has lines of the form ID:CONTROLLERS:PATH. Returns "/" if
// none of them fits.
std::string group_of(std::string_view controller, const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    if (is_in_list(controllers, controller)) return line.substr(second + 1);
  }
  return "/";
}

// Returns the folders of the group and of all groups around it, innermost first. A container may
// see its own group as the root of the mounted hierarchy. Then the inner folders do not exist, and
// only the last one counts.
std::vector<std::string> group_folders(std::string_view controller, const std::string& root) {
  std::string mount = root + "/sys/fs/cgroup";
  if (controller != kAllControllers) mount.append("/").append(controller);
  std::string group = group_of(controller, root);
  std::vector<std::string> folders;
  while (!group.empty() && group != "/") {
    folders.push_back(mount + group);
    group.resize(group.rfind('/'));
  }
  folders.push_back(mount);
  return folders;
}

// Converts microseconds of CPU time per period to a number of cores. A quota of -1 is no limit.
double cores_of(std::int64_t quota, std::int64_t period, double otherwise) {
  if (quota <= 0 || period <= 0) return otherwise;
  return static_cast<double>(quota) / static_cast<double>(period);
}

double cores_of_affinity() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  return std::max(1U, std::thread::hardware_concurrency());
}

void narrow(ThreadRoom& room, const std::string& name, std::int64_t limit, std::int64_t used) {
  const std::int64_t left = std::max<std::int64_t>(0, limit - used);
  if (left < room.count) room = {left, name + " is " + std::to_string(limit)};
}

void narrow_by_group(ThreadRoom& room, const std::string& folder) {
  constexpr std::int64_t kNone = -1;
  const std::int64_t limit = number_in(folder + "/pids.max", kNone);
  if (limit == kNone) return;
  narrow(room, "pids.max of the control group", limit, number_in(folder + "/pids.current", 0));
}

// All threads of the system: "0.25 0.10 0.05 RUNNING/ALL LAST_PID".
std::int64_t threads_in_all(const std::string& root) {
  std::ifstream file(root + "/proc/loadavg");
  std::string word;
  for (int i = 0; i < 4; ++i) file >> word;
  const std::size_t slash = word.find('/');
  return slash == std::string::npos ? 0 : std::strtoll(word.c_str() + slash + 1, nullptr, 10);
}

}  // namespace

double usable_cores(const std::string& root) {
  double cores = cores_of_affinity();
  for (const std::string& folder : group_folders(kAllControllers, root)) {
    const auto numbers = numbers_in(folder + "/cpu.max");
    if (numbers.size() >= 2) cores = std::min(cores, cores_of(numbers[0], numbers[1], cores));
  }
  for (const std::string& folder : group_folders("cpu", root)) {
    const std::int64_t quota = number_in(folder + "/cpu.cfs_quota_us", -1);
    const std::int64_t period = number_in(folder + "/cpu.cfs_period_us", -1);
    cores = std::min(cores, cores_of(quota, period, cores));
  }
  return cores;
}

std::int64_t usable_memory_bytes(const std::string& root) {
  std::int64_t bytes =
      static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  for (const std::string& folder : group_folders(kAllControllers, root))
    bytes = std::min(bytes, number_in(folder + "/memory.max", bytes));
  for (const std::string& folder : group_folders("memory", root))
    bytes = std::min(bytes, number_in(folder + "/memory.limit_in_bytes", bytes));
  return bytes;
}

// The kernel lets root exceed the limit of the user.
ThreadRoom room_for_threads(const std::string& root) {
  ThreadRoom room;
  const std::int64_t all = threads_in_all(root);
  const std::string settings = root + "/proc/sys/kernel/";
  for (const char* const name : {"threads-max", "pid_max"}) {
    const std::int64_t limit = number_in(settings + name, INT64_MAX);
    if (limit != INT64_MAX) narrow(room, std::string("kernel.") + name, limit, all);
  }
  for (const std::string& folder : group_folders(kAllControllers, root))
    narrow_by_group(room, folder);
  for (const std::string& folder : group_folders("pids", root)) narrow_by_group(room, folder);
  rlimit limit{};
  const bool is_limited =
      ::geteuid() != 0 && ::getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  if (is_limited) narrow(room, "`ulimit -u`", static_cast<std::int64_t>(limit.rlim_cur), 1);
  return room;
}

std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

void make_threads_small() {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
}

void allow_debugging(bool is_allowed) { ::prctl(PR_SET_DUMPABLE, is_allowed ? 1 : 0); }

std::vector<std::int64_t> numbers_in(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::int64_t> numbers;
  for (std::int64_t number = 0; file >> number;) numbers.push_back(number);
  return numbers;
}

std::int64_t number_in(const std::string& path, std::int64_t otherwise) {
  const auto numbers = numbers_in(path);
  return numbers.empty() ? otherwise : numbers.front();
}

}  // namespace base
