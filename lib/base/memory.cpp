#include "base/memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace base {

namespace {

// "max", or a number; nothing readable counts as no limit.
std::int64_t limit_in(const char* path) {
  std::int64_t bytes = 0;
  std::ifstream file(path);
  return file >> bytes ? bytes : INT64_MAX;
}

}  // namespace

std::int64_t usable_memory_bytes() {
  const std::int64_t machine =
      static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  return std::min({machine, limit_in("/sys/fs/cgroup/memory.max"),
                   limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
}

}  // namespace base
