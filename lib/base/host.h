// What this process may use of the machine: cores, memory, descriptors.
//
// Any thread may call these functions. A limit of a control group (cgroup v1 and v2, such as a
// container's) counts where it is lower than the machine's. Groups are nested; the lowest limit of
// the process's own group and of all groups around it counts.
//
// `root` is the folder that holds proc/ and sys/. It is only given by tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace base {

// The cores that this process may run on, by its affinity and its CPU quota. A quota may allow a
// fraction of a core.
double usable_cores(const std::string& root = "");

// The memory that this process and the others of its control group may use together.
std::int64_t usable_memory_bytes(const std::string& root = "");

// Raises the soft limit of open descriptors to the hard limit, and returns it.
std::uint64_t raise_descriptor_limit();

// Gives every thread that is started from now on a stack of 512 KiB. Only the touched part of a
// stack costs memory; the rest is address space.
void make_threads_small();

// The numbers that a file of /proc or /sys begins with. Empty if the file cannot be read or begins
// with a word, such as "max".
std::vector<std::int64_t> numbers_in(const std::string& path);

// The first of them, or `otherwise` if there is none.
std::int64_t number_in(const std::string& path, std::int64_t otherwise);

}  // namespace base
