#include "telemetry/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

#include "base/host.h"

namespace telemetry {

namespace {

struct Usage {
  std::int64_t ticks = 0;
  std::int64_t resident_bytes = 0;
  std::int64_t threads = 0;
};

std::string folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

// The numbers of /proc/PID/stat from the parent's id on, which is field 4 of proc(5). Empty when
// there is no such process. The name of the program comes before them and may contain anything.
std::vector<std::int64_t> stat_from_parent(pid_t pid) {
  std::ifstream file(folder_of(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || line.size() < name_end + 4) return {};
  std::istringstream rest(line.substr(name_end + 4));
  std::vector<std::int64_t> numbers;
  for (std::int64_t number = 0; rest >> number;) numbers.push_back(number);
  return numbers;
}

// The number of this field of proc(5), or 0.
std::int64_t field(const std::vector<std::int64_t>& stat, std::size_t number) {
  return stat.size() > number - 4 ? stat[number - 4] : 0;
}

std::int64_t page_bytes() { return ::sysconf(_SC_PAGESIZE); }

Usage usage_of_server(pid_t server) {
  const auto stat = stat_from_parent(server);
  return {field(stat, 14) + field(stat, 15) + field(stat, 16) + field(stat, 17),
          field(stat, 24) * page_bytes(), field(stat, 20)};
}

Usage usage_of_child(pid_t child, pid_t server) {
  const auto stat = stat_from_parent(child);
  if (field(stat, 4) != server) return {};
  const auto pages = base::numbers_in(folder_of(child) + "/statm");  // total, resident, shared
  const std::int64_t own_pages = pages.size() >= 3 ? pages[1] - pages[2] : 0;
  return {field(stat, 14) + field(stat, 15), own_pages * page_bytes(), field(stat, 20)};
}

double start_time_s(pid_t server) {
  std::ifstream file("/proc/stat");
  std::int64_t boot_s = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) boot_s = std::stoll(line.substr(6));
  }
  const auto ticks = static_cast<double>(field(stat_from_parent(server), 22));
  return static_cast<double>(boot_s) + ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// Nothing if the system does not show them: the server may have changed its user.
std::optional<std::int64_t> open_descriptors(pid_t server) {
  std::error_code failure;
  std::filesystem::directory_iterator next(folder_of(server) + "/fd", failure);
  std::int64_t count = 0;
  for (; !failure && next != std::filesystem::directory_iterator(); next.increment(failure))
    ++count;
  if (failure) return {};
  return count;
}

std::int64_t most_descriptors() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);  // children inherit it
  return static_cast<std::int64_t>(limit.rlim_cur);
}

}  // namespace

void ProcessMetrics::write(Page& page, const std::vector<pid_t>& owners) {
  Usage sum = usage_of_server(server_);
  for (const pid_t owner : owners) {
    if (owner == server_) continue;
    const Usage child = usage_of_child(owner, server_);
    sum.ticks += child.ticks;
    sum.resident_bytes += child.resident_bytes;
    sum.threads += child.threads;
  }
  most_ticks_ = std::max(most_ticks_, sum.ticks);
  page.counter("process_cpu_seconds_total", "CPU time of the server and its children.",
               static_cast<double>(most_ticks_) / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  page.gauge("process_resident_memory_bytes", "Memory of the server and its children.",
             sum.resident_bytes);
  page.gauge("process_threads", "Threads of the server and its children.", sum.threads);
  if (const auto open = open_descriptors(server_))
    page.gauge("process_open_fds", "Open file descriptors of the server's own process.", *open);
  page.gauge("process_max_fds", "How many file descriptors a process may have open.",
             most_descriptors());
  page.gauge("process_start_time_seconds", "When the server started, in seconds since 1970.",
             start_time_s(server_));
}

}  // namespace telemetry
