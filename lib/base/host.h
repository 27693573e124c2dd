// What this process may use of the machine: cores, memory, descriptors, threads.
//
// A container limits its processes by a control group (cgroup v1 or v2). Groups are nested, so the
// lowest limit of the process's own group and of all groups around it counts. It counts only if it
// is lower than what the machine has.
//
// Threads: any. `root` is the folder that contains proc/ and sys/; only tests set it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace base {

// The number of cores that this process may use, by its affinity and its CPU quota. A quota may
// allow a fraction of a core.
double usable_cores(const std::string& root = "");

// The memory that this process may use, together with the other processes of its control groups.
std::int64_t usable_memory_bytes(const std::string& root = "");

// Raises the soft limit of open descriptors to the hard limit, and returns it.
std::uint64_t raise_descriptor_limit();

// How many more threads this process can start, and what says so, such as "kernel.pid_max is
// 32768". A process counts as its threads do.
struct ThreadRoom {
  std::int64_t count = INT64_MAX;
  std::string limit = {};
};

// By the limits of the system, of the control groups and, unless it is root, of the user. Of the
// last it is not known what other processes have taken.
ThreadRoom room_for_threads(const std::string& root = "");

// Gives every thread that is started from now on a stack of 512 KiB, so that thousands of threads
// fit into the address space. Only the used part of a stack costs memory.
void make_threads_small();

// Says whether the kernel may write core dumps of this process and of its future children, and let
// debuggers of the same user in. If not, only root can read its memory and its environment.
void allow_debugging(bool is_allowed);

// Returns the numbers at the start of a file of /proc or /sys. The result is empty if the file
// cannot be read or begins with a word, such as "max".
std::vector<std::int64_t> numbers_in(const std::string& path);

// Returns the first of these numbers, or `otherwise` if there is none.
std::int64_t number_in(const std::string& path, std::int64_t otherwise);

}  // namespace base
