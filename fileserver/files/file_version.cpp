#include "fileserver/files/file_version.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmath>

#include "base/clock.h"

namespace fileserver {

namespace {

std::int64_t ns_of(const timespec& time) { return time.tv_sec * base::kNsPerS + time.tv_nsec; }

// FAT keeps the day of the last access, which begins at midnight of some time zone.
bool has_times_of_fat(const struct stat& status) {
  constexpr std::int64_t kTimeZonesDifferByS = 15 * 60;
  return status.st_ctim.tv_sec % 2 == 0 && status.st_mtim.tv_sec % 2 == 0 &&
         status.st_atim.tv_nsec == 0 && status.st_atim.tv_sec % kTimeZonesDifferByS == 0;
}

// Programs that set times, such as tar, set the time of modification to a whole second. They cannot
// set the time of the change.
int settling_ms_of(const struct stat& status) {
  if (status.st_ctim.tv_nsec != 0) return kSettlingMs;
  return (has_times_of_fat(status) ? 2000 : 1000) + kSettlingMs;
}

timespec time_in(const struct statx_timestamp& time) { return {time.tv_sec, time.tv_nsec}; }

struct stat status_in(const struct statx& fresh) {
  struct stat status {};
  status.st_dev = makedev(fresh.stx_dev_major, fresh.stx_dev_minor);
  status.st_ino = fresh.stx_ino;
  status.st_mode = fresh.stx_mode;
  status.st_nlink = fresh.stx_nlink;
  status.st_uid = fresh.stx_uid;
  status.st_gid = fresh.stx_gid;
  status.st_rdev = makedev(fresh.stx_rdev_major, fresh.stx_rdev_minor);
  status.st_size = static_cast<off_t>(fresh.stx_size);
  status.st_blksize = fresh.stx_blksize;
  status.st_blocks = static_cast<blkcnt_t>(fresh.stx_blocks);
  status.st_atim = time_in(fresh.stx_atime);
  status.st_mtim = time_in(fresh.stx_mtime);
  status.st_ctim = time_in(fresh.stx_ctime);
  return status;
}

}  // namespace

FileVersion version_in(const struct stat& status) {
  return {status.st_dev,         status.st_ino,         status.st_nlink,       status.st_size,
          ns_of(status.st_mtim), ns_of(status.st_ctim), settling_ms_of(status)};
}

// If the other host does not answer, what is known of the file is all that can be had.
bool read_status(int fd, struct stat& status) {
  struct statx fresh {};
  if (::statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &fresh) != 0)
    return ::fstat(fd, &status) == 0;
  status = status_in(fresh);
  return true;
}

FileVersion version_of(int fd) {
  struct stat status {};
  if (!read_status(fd, status)) return {.size_bytes = -1};
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

bool is_settled(const FileVersion& version) { return unsettled_ms(version) == 0; }

int unsettled_ms(const FileVersion& version) {
  const double age_s = base::unix_time_s() - static_cast<double>(version.changed_ns) / 1e9;
  const double left_ms = version.settling_ms - std::abs(age_s) * 1000;
  return left_ms < 0 ? 0 : static_cast<int>(left_ms) + 1;
}

// Pages that are being written already stay dirty until they are written.
FileVersion version_to_read(int fd) {
  ::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE);
  const FileVersion version = version_of(fd);
  if (version.size_bytes != 0) return version;
  ::lseek(fd, 0, SEEK_DATA);  // takes the lock that is held while the file is emptied
  return version_of(fd);
}

}  // namespace fileserver
