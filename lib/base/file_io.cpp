#include "base/file_io.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <utility>

#include "base/waits.h"

namespace base {

ssize_t read_at(int fd, std::span<char> into, std::int64_t offset) {
  return retried([&] { return ::pread(fd, into.data(), into.size(), offset); });
}

namespace {

ssize_t read_on_at(int fd, std::span<char> into, std::int64_t offset) {
  std::size_t have = 0;
  while (have < into.size()) {
    const ssize_t got = read_at(fd, into.subspan(have), offset + static_cast<std::int64_t>(have));
    if (got < 0) return -1;
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(have);
}

// What is in the page cache already, or -1.
ssize_t read_from_memory_at(int fd, std::span<char> into, std::int64_t offset) {
  iovec part{into.data(), into.size()};
  return retried([&] { return ::preadv2(fd, &part, 1, offset, RWF_NOWAIT); });
}

}  // namespace

ssize_t read_fully_at(int fd, std::span<char> into, std::int64_t offset) {
  if (my_waits == nullptr) return read_on_at(fd, into, offset);
  if (read_from_memory_at(fd, into, offset) == static_cast<ssize_t>(into.size()))
    return static_cast<ssize_t>(into.size());
  const auto [got, failure] = may_block([&] {
    const ssize_t read = read_on_at(fd, into, offset);
    return std::pair(read, errno);
  });
  errno = failure;
  return got;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = retried([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool sync(int fd) {
  return retried([&] { return ::fsync(fd); }) == 0;
}

std::optional<std::string> mode_open_to_others(const std::string& path) {
  constexpr mode_t kPermissions = 07777;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & S_IROTH) == 0) return {};
  return fmt::format("{:04o}", status.st_mode & kPermissions);
}

}  // namespace base
