#include "fileserver/files/file_version.h"

#include <cmath>

#include "base/clock.h"

namespace fileserver {

namespace {

std::int64_t ns_of(const timespec& time) { return time.tv_sec * base::kNsPerS + time.tv_nsec; }

}  // namespace

FileVersion version_in(const struct stat& status) {
  return {status.st_dev,  status.st_ino,         status.st_nlink,
          status.st_size, ns_of(status.st_mtim), ns_of(status.st_ctim)};
}

FileVersion version_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return {.size_bytes = -1};
  return version_in(status);
}

bool have_same_content(const FileVersion& a, const FileVersion& b) {
  return a.device == b.device && a.inode == b.inode && a.size_bytes == b.size_bytes &&
         a.modified_ns == b.modified_ns && a.changed_ns == b.changed_ns;
}

bool was_only_removed(const FileVersion& before, FileVersion after) {
  if (before.links == 0 || after.links != 0) return false;
  after.changed_ns = before.changed_ns;
  return have_same_content(before, after);
}

bool is_settled(const FileVersion& version) {
  const double age_s = base::unix_time_s() - static_cast<double>(version.changed_ns) / 1e9;
  return std::abs(age_s) * 1000 > kSettlingMs;
}

}  // namespace fileserver
