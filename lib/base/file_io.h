// Reading and writing files, and calls that a signal can interrupt.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace base {

// Repeats a system call for as long as signals interrupt it (EINTR), and returns its result. Calls
// on files and sockets that may sleep go through here. docs/architecture.md names the exceptions.
template <typename Call>
auto retried(Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// Reads once at `offset`, leaving the file's own position alone. Returns the number of bytes, 0 at
// the end of the file, or -1 with errno.
ssize_t read_at(int fd, std::span<char> into, std::int64_t offset);

// The same until `into` is full or the file ends.
ssize_t read_fully_at(int fd, std::span<char> into, std::int64_t offset);

// Writes all of it. Returns false with errno on failure; a part may have been written then.
bool write_all(int fd, std::string_view bytes);

// Waits until all that was written is on disk. Returns false with errno.
bool sync(int fd);

// The mode of a file that every user of the machine may read, such as "0644". Nothing for any other
// file, and for one that is not there.
std::optional<std::string> mode_open_to_others(const std::string& path);

}  // namespace base
