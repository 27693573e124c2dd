#include "fileserver/files/temporary_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_io.h"
#include "base/log.h"
#include "base/waits.h"
#include "fileserver/files/open_folder.h"
#include "fileserver/files/partial_uploads.h"
#include "fileserver/files/renames.h"
#include "fileserver/files/tree_removal.h"
#include "fileserver/files/upload_name.h"

namespace fileserver {

namespace {

constexpr mode_t kMode = 0666;               // less what umask takes
constexpr unsigned kExchange = 2;            // RENAME_EXCHANGE
constexpr off_t kLeastAheadBytes = 1 << 20;  // what is reserved ahead of the bytes that have come
constexpr off_t kMostAheadBytes = 64 << 20;

// Whether the open file was left behind: nobody has it locked, and it has its name still.
bool is_left(int fd) {
  struct stat status {};
  return ::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::fstat(fd, &status) == 0 && status.st_nlink > 0;
}

bool remove_all_of(const std::string& path) {
  return remove_tree(AT_FDCWD, path, [] { return true; });
}

// Removes what was left behind in the folder, whose path ends with a slash. Returns how many that
// were, and adds the paths of the folders in it.
int remove_left_in(const std::string& folder, std::vector<std::string>& folders) {
  const OpenFolder list(::opendir(folder.c_str()));
  if (list == nullptr) return 0;
  int removed = 0;
  while (const dirent* const entry = next_entry(list)) {
    const std::string_view last = entry->d_name;
    std::string path = folder + entry->d_name;
    if (PartialUploads::is_folder_name(last)) continue;  // they go on
    if (is_trash_folder(last)) continue;                 // it removes what it holds by itself
    if (last.starts_with(kKeptPrefix)) continue;
    if (last.starts_with(kUploadPrefix)) {
      const net::Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      if (fd.is_open() && is_left(fd.get()) && remove_all_of(path)) ++removed;
    } else if (type_of(*entry, list) == DT_DIR) {
      folders.push_back(std::move(path += '/'));
    }
  }
  return removed;
}

// Starts to put the bytes before the last ones on disk, a block at a time, so that the sync at the
// end has little left to do. Whether it works is seen there.
void write_back_behind(int fd, off_t end, off_t last_bytes) {
  constexpr off_t kWriteBackBytes = 8 << 20;
  const off_t first = (end - last_bytes) / kWriteBackBytes * kWriteBackBytes;
  const off_t behind = end / kWriteBackBytes * kWriteBackBytes;
  if (behind > first) ::sync_file_range(fd, first, behind - first, SYNC_FILE_RANGE_WRITE);
}

// Whether the file system says that so many bytes are free, or can be. Where it says nothing, they
// are.
bool has_room(int fd, std::uint64_t size_bytes, std::uint64_t removable_bytes) {
  struct statvfs status {};
  if (::fstatvfs(fd, &status) != 0 || status.f_blocks == 0) return true;
  const auto free_blocks = ::geteuid() == 0 ? status.f_bfree : status.f_bavail;
  const auto free_later = free_blocks + removable_bytes / status.f_frsize;
  return (size_bytes + status.f_frsize - 1) / status.f_frsize <= free_later;
}

}  // namespace

// Closing the last descriptor of a large file gives back its blocks, which takes time.
TemporaryFile::~TemporaryFile() {
  if (!is_open() && name_.empty()) return;
  base::may_block_long([this] {
    if (!name_.empty()) ::unlinkat(hidden_folder_, name_.c_str(), 0);
    fd_ = {};
  });
}

void TemporaryFile::swap(TemporaryFile& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(hidden_folder_, other.hidden_folder_);
  std::swap(fd_, other.fd_);
  std::swap(name_, other.name_);
  std::swap(written_bytes_, other.written_bytes_);
  std::swap(announced_bytes_, other.announced_bytes_);
  std::swap(reserved_bytes_, other.reserved_bytes_);
}

TemporaryFile TemporaryFile::in(int folder, Kind kind) {
  TemporaryFile file;
  file.folder_ = folder;
  file.hidden_folder_ = folder;
  if (kind == Kind::kUnnamed)
    file.fd_ = net::Fd(::openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, kMode));
  for (int i = 0; i < kNameTries && !file.is_open(); ++i) {
    std::string name = random_upload_name();
    file.fd_ = net::Fd(
        ::openat(folder, name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, kMode));
    if (file.is_open()) file.name_ = std::move(name);
    if (errno != EEXIST) break;
  }
  if (file.is_open()) ::flock(file.fd(), LOCK_EX | LOCK_NB);
  return file;
}

TemporaryFile TemporaryFile::linked_in(int folder, net::Fd fd) {
  TemporaryFile file;
  file.folder_ = folder;
  file.hidden_folder_ = folder;
  file.fd_ = std::move(fd);
  if (!file.link_hidden()) file.fd_ = {};
  return file;
}

bool TemporaryFile::reserve(std::uint64_t size_bytes, std::uint64_t removable_bytes) {
  if (size_bytes == 0) return true;
  if (size_bytes > static_cast<std::uint64_t>(INT64_MAX)) {
    errno = EFBIG;
    return false;
  }
  if (!has_room(fd(), size_bytes, removable_bytes)) {
    errno = ENOSPC;
    return false;
  }
  announced_bytes_ = static_cast<off_t>(size_bytes);
  return true;
}

bool TemporaryFile::reserve_up_to(off_t end) {
  if (end <= reserved_bytes_ || reserved_bytes_ >= announced_bytes_) return true;
  const off_t ahead = std::clamp(written_bytes_, kLeastAheadBytes, kMostAheadBytes);
  const off_t wanted = std::min(announced_bytes_, std::max(end, reserved_bytes_ + ahead));
  const off_t more = wanted - reserved_bytes_;
  const bool is_done = base::retried([&] {
                         return ::fallocate(fd(), FALLOC_FL_KEEP_SIZE, reserved_bytes_, more);
                       }) == 0;
  if (!is_done && errno != EOPNOTSUPP && errno != ENOSYS) return false;
  reserved_bytes_ = is_done ? wanted : announced_bytes_;
  return true;
}

bool TemporaryFile::write(std::span<const char> bytes) {
  const auto size = static_cast<off_t>(bytes.size());
  if (announced_bytes_ > 0 && !reserve_up_to(written_bytes_ + size)) return false;
  if (!base::write_all(fd(), {bytes.data(), bytes.size()})) {
    const int failure = errno;
    ::lseek(fd(), written_bytes_, SEEK_SET);
    errno = failure;
    return false;
  }
  written_bytes_ += size;
  write_back_behind(fd(), written_bytes_, size);
  return true;
}

bool TemporaryFile::sync() {
  return base::retried([&] { return ::fdatasync(fd()); }) == 0;
}

bool TemporaryFile::link(const NameIn& name) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd());
  return ::linkat(AT_FDCWD, path.c_str(), name.folder, name.last.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

// A file without a name cannot replace another, so it gets one with kUploadPrefix.
bool TemporaryFile::link_hidden() {
  for (int i = 0; i < kNameTries; ++i) {
    std::string name = random_upload_name();
    if (link({folder_, name})) {
      name_ = std::move(name);
      return true;
    }
    if (errno != EEXIST) break;
  }
  return false;
}

bool TemporaryFile::hide_as(const NameIn& hidden) {
  const bool is_hidden =
      name_.empty() ? link(hidden) : rename_to_new({hidden_folder_, name_}, hidden);
  if (!is_hidden) return false;
  hidden_folder_ = hidden.folder;
  name_ = hidden.last;
  return true;
}

bool TemporaryFile::replace(const std::string& name) {
  if (name_.empty() && !link_hidden()) return false;
  if (swap_names(name)) {
    // A folder that has just got the name must not be removed with the hidden name.
    struct stat status {};
    if (::fstatat(hidden_folder_, name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode)))
      return true;
    if (!swap_names(name)) name_.clear();  // rather than remove it
    errno = EISDIR;
    return false;
  }
  if (errno == ENOENT) return create(name);  // somebody has removed it
  // The file system cannot do it, or a sandbox does not let a link have the hidden name.
  return (errno == EINVAL || errno == ENOSYS || errno == EACCES) && rename(name, 0);
}

void TemporaryFile::drop_replaced() {
  if (!name_.empty() && ::unlinkat(hidden_folder_, name_.c_str(), 0) == 0) name_.clear();
}

bool TemporaryFile::keep_replaced() {
  struct stat status {};
  if (name_.empty() || ::fstatat(hidden_folder_, name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  if (!S_ISREG(status.st_mode)) return false;
  name_.clear();
  return true;
}

void TemporaryFile::take_back(const std::string& name) {
  struct stat own {};
  struct stat current {};
  if (::fstat(fd(), &own) != 0 ||
      ::fstatat(folder_, name.c_str(), &current, AT_SYMLINK_NOFOLLOW) != 0 ||
      own.st_dev != current.st_dev || own.st_ino != current.st_ino)
    return;
  if (name_.empty())
    ::unlinkat(folder_, name.c_str(), 0);
  else
    swap_names(name);
}

bool TemporaryFile::create(const std::string& name) {
  if (name_.empty()) return link({folder_, name});
  if (rename(name, kNoReplace)) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // NFS and most file systems in user space have no such rename. A link does not replace either.
  if (::linkat(hidden_folder_, name_.c_str(), folder_, name.c_str(), 0) == 0) {
    if (::unlinkat(hidden_folder_, name_.c_str(), 0) == 0) name_.clear();
    return true;
  }
  if (errno == EEXIST) return false;
  // It has no links, so it takes two steps. Uploads do not disturb each other even so.
  struct stat status {};
  if (::fstatat(folder_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    errno = EEXIST;
    return false;
  }
  return rename(name, 0);
}

bool TemporaryFile::rename(const std::string& name, unsigned flags) {
  const long renamed =
      ::syscall(SYS_renameat2, hidden_folder_, name_.c_str(), folder_, name.c_str(), flags);
  if (renamed == 0) name_.clear();
  return renamed == 0;
}

bool TemporaryFile::swap_names(const std::string& name) {
  return ::syscall(SYS_renameat2, hidden_folder_, name_.c_str(), folder_, name.c_str(),
                   kExchange) == 0;
}

bool can_be_unnamed(int folder) {
  const net::Fd probe(::openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, kMode));
  if (!probe.is_open()) return false;
  const std::string path = "/proc/self/fd/" + std::to_string(probe.get());
  const std::string name = random_upload_name();
  // A sandbox may refuse the link.
  if (::linkat(AT_FDCWD, path.c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) != 0) return false;
  return ::unlinkat(folder, name.c_str(), 0) == 0;
}

// The iterator of std::filesystem takes half a minute for 4,000 folders in each other, and a
// descriptor for each of them.
void remove_left_uploads(const std::string& root) {
  int removed = 0;
  std::vector<std::string> folders = {root + "/"};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    removed += remove_left_in(folder, folders);
  }
  if (removed > 0) base::log::info("removed files of uploads that did not end files={}", removed);
}

}  // namespace fileserver
