#pragma once

#include <cstdint>

namespace base {

// The memory of the machine, or of the container (cgroup v2 or v1) where that is less.
std::int64_t usable_memory_bytes();

}  // namespace base
