#include "fileserver/files/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file_io.h"
#include "base/log.h"
#include "fileserver/files/upload_name.h"

namespace fileserver {

namespace {

namespace fs = std::filesystem;

constexpr mode_t kMode = 0666;      // less what umask takes
constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE, which not all C libraries have
constexpr int kTries = 8;           // until a random name is free

std::string random_name() {
  std::uint64_t number = 0;
  base::retried([&] { return ::getrandom(&number, sizeof number, 0); });
  return fmt::format("{}{:016x}", kUploadPrefix, number);
}

// Whether the open file was left behind: nobody has it locked, and it has its name still.
bool is_left(int fd) {
  struct stat status {};
  return ::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::fstat(fd, &status) == 0 && status.st_nlink > 0;
}

// Starts to put the bytes before the last ones on disk, a block at a time, so that the sync at the
// end has little left to do. Whether it works is seen there.
void write_back_behind(int fd, off_t last_bytes) {
  constexpr off_t kBlockBytes = 8 << 20;
  const off_t end = ::lseek(fd, 0, SEEK_CUR);
  const off_t first = (end - last_bytes) / kBlockBytes * kBlockBytes;
  const off_t behind = end / kBlockBytes * kBlockBytes;
  if (behind > first) ::sync_file_range(fd, first, behind - first, SYNC_FILE_RANGE_WRITE);
}

}  // namespace

TemporaryFile::~TemporaryFile() {
  if (!name_.empty()) ::unlinkat(folder_, name_.c_str(), 0);
}

void TemporaryFile::swap(TemporaryFile& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(fd_, other.fd_);
  std::swap(name_, other.name_);
}

TemporaryFile TemporaryFile::in(int folder, Kind kind) {
  TemporaryFile file;
  file.folder_ = folder;
  if (kind == Kind::kUnnamed)
    file.fd_ = net::Fd(::openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, kMode));
  for (int i = 0; i < kTries && !file.is_open(); ++i) {
    std::string name = random_name();
    file.fd_ = net::Fd(
        ::openat(folder, name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, kMode));
    if (file.is_open()) file.name_ = std::move(name);
    if (errno != EEXIST) break;
  }
  if (file.is_open()) ::flock(file.fd(), LOCK_EX | LOCK_NB);
  return file;
}

bool TemporaryFile::reserve(std::uint64_t size_bytes) {
  if (size_bytes == 0) return true;
  if (size_bytes > static_cast<std::uint64_t>(INT64_MAX)) {
    errno = EFBIG;
    return false;
  }
  const auto size = static_cast<off_t>(size_bytes);
  return base::retried([&] { return ::fallocate(fd(), FALLOC_FL_KEEP_SIZE, 0, size); }) == 0 ||
         errno == EOPNOTSUPP || errno == ENOSYS;
}

bool TemporaryFile::write(std::span<const char> bytes) {
  if (!base::write_all(fd(), {bytes.data(), bytes.size()})) return false;
  write_back_behind(fd(), static_cast<off_t>(bytes.size()));
  return true;
}

bool TemporaryFile::sync() {
  return base::retried([&] { return ::fdatasync(fd()); }) == 0;
}

bool TemporaryFile::link(const std::string& name) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd());
  return ::linkat(AT_FDCWD, path.c_str(), folder_, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

// A file without a name cannot replace another, so it gets one with kUploadPrefix.
bool TemporaryFile::link_hidden() {
  for (int i = 0; i < kTries; ++i) {
    std::string name = random_name();
    if (link(name)) {
      name_ = std::move(name);
      return true;
    }
    if (errno != EEXIST) break;
  }
  return false;
}

bool TemporaryFile::replace(const std::string& name) {
  return (!name_.empty() || link_hidden()) && rename(name, 0);
}

bool TemporaryFile::create(const std::string& name) {
  if (name_.empty()) return link(name);
  if (rename(name, kNoReplace)) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // The file system cannot do it in one step. Uploads do not disturb each other even so.
  struct stat status {};
  if (::fstatat(folder_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    errno = EEXIST;
    return false;
  }
  return rename(name, 0);
}

bool TemporaryFile::rename(const std::string& name, unsigned flags) {
  const long renamed =
      ::syscall(SYS_renameat2, folder_, name_.c_str(), folder_, name.c_str(), flags);
  if (renamed == 0) name_.clear();
  return renamed == 0;
}

bool can_be_unnamed(int folder) {
  const net::Fd probe(::openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, kMode));
  if (!probe.is_open()) return false;
  const std::string path = "/proc/self/fd/" + std::to_string(probe.get());
  const std::string name = random_name();
  // A sandbox may refuse the link.
  if (::linkat(AT_FDCWD, path.c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) != 0) return false;
  return ::unlinkat(folder, name.c_str(), 0) == 0;
}

void remove_left_uploads(const std::string& root) {
  int removed = 0;
  std::error_code failure;
  fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied,
                                         failure);
  for (const fs::recursive_directory_iterator end; !failure && entry != end;
       entry.increment(failure)) {
    if (!entry->path().filename().string().starts_with(kUploadPrefix)) continue;
    const std::string path = entry->path().string();
    const net::Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd.is_open() && is_left(fd.get()) && ::unlink(path.c_str()) == 0) ++removed;
  }
  if (removed > 0) base::log::info("removed files of uploads that did not end files={}", removed);
}

}  // namespace fileserver
