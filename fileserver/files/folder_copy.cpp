#include "fileserver/files/folder_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/file_io.h"
#include "fileserver/files/kept_permissions.h"
#include "fileserver/files/open_folder.h"
#include "fileserver/files/upload_name.h"

namespace fileserver {

namespace {

// How many folders are on the way to this one; it is one of them.
std::size_t depth_of(std::string_view folder) {
  if (folder.empty()) return 0;
  return 1 + static_cast<std::size_t>(std::count(folder.begin(), folder.end(), '/'));
}

// What is in a folder comes before what is beside it. So the next folder is always in this one, or
// in one that this one is in.
bool go_to(FolderTrail& trail, const std::string& folder) {
  const std::size_t depth = depth_of(folder);
  if (depth == 0) return true;
  while (trail.depth() >= depth) {
    if (!trail.go_up()) return false;
  }
  return trail.go_down(folder.substr(folder.rfind('/') + 1).c_str());
}

// Adds what is in one folder, and notes the folders in it. Returns false if something else is
// there.
bool add_to(FolderSum& sum, int here, const std::string& folder,
            std::vector<std::string>& folders) {
  const OpenFolder list = open_names(here);
  if (list == nullptr) return false;
  while (const dirent* const entry = next_entry(list)) {
    const std::string_view last = entry->d_name;
    if (goes_by_itself(last)) continue;
    if (is_upload_name(last)) return false;
    const net::Fd fd(::openat(here, entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!fd.is_open() || !read_status(fd.get(), status)) return false;
    std::string name = joined(folder, last);
    if (S_ISREG(status.st_mode)) {
      sum.add_file(name, version_in(status));
    } else if (S_ISDIR(status.st_mode)) {
      sum.add_folder(name);
      folders.push_back(std::move(name));
    } else {
      return false;
    }
  }
  return errno == 0;
}

constexpr std::int64_t kCopiedAtOnceBytes = 512 << 10;
constexpr std::size_t kBufferBytes = 1 << 20;
constexpr int kCopyTries = 4;

// Returns how many bytes were copied. 0 at the end of the file, or if the system cannot do it.
std::int64_t copied_by_system(int from, int to, std::int64_t offset, std::int64_t size) {
  off64_t from_offset = offset;
  off64_t to_offset = offset;
  const ssize_t copied = base::retried([&] {
    return ::copy_file_range(from, &from_offset, to, &to_offset, static_cast<std::size_t>(size), 0);
  });
  return std::max<std::int64_t>(copied, 0);
}

// Returns how many bytes were copied, or -1 with errno. 0 at the end of the file.
std::int64_t copied_by_hand(int from, int to, std::int64_t offset, std::int64_t size) {
  const auto most = static_cast<std::size_t>(std::min<std::int64_t>(size, kBufferBytes));
  const auto buffer = std::make_unique_for_overwrite<char[]>(most);
  const ssize_t got = base::read_fully_at(from, {buffer.get(), most}, offset);
  if (got <= 0) return got;
  if (::lseek(to, offset, SEEK_SET) < 0) return -1;
  return base::write_all(to, {buffer.get(), static_cast<std::size_t>(got)}) ? got : -1;
}

// Begins to put a piece on the disk, and waits for those before it. So a sync, of this copy or of
// somebody's upload, which may come behind all that is being written, has little left to do.
// Returns 0 or the errno of a write that failed: the sync at the end would not tell it again.
int write_back(int fd, std::int64_t offset, std::int64_t size) {
  ::sync_file_range(fd, offset, size, SYNC_FILE_RANGE_WRITE);
  if (offset == 0 || ::sync_file_range(fd, 0, offset, SYNC_FILE_RANGE_WAIT_BEFORE) == 0) return 0;
  return errno == EIO || errno == ENOSPC || errno == EDQUOT ? errno : 0;
}

// Returns 0 or an errno. EBUSY if the file has fewer bytes.
int copy_bytes(int from, int to, std::int64_t size_bytes, const MayGoOn& may_go_on) {
  bool can_system = true;
  for (std::int64_t offset = 0; offset < size_bytes;) {
    if (!may_go_on()) return ECANCELED;
    const std::int64_t piece = std::min(size_bytes - offset, kCopiedAtOnceBytes);
    std::int64_t copied = can_system ? copied_by_system(from, to, offset, piece) : 0;
    can_system = copied > 0;
    // It also says whether the disk is full.
    if (!can_system) copied = copied_by_hand(from, to, offset, piece);
    if (copied < 0) return errno;
    if (copied == 0) return EBUSY;
    if (const int failure = write_back(to, offset, copied); failure != 0) return failure;
    offset += copied;
  }
  return 0;
}

}  // namespace

mode_t mode_of_copy(int folder, const std::string& last) {
  constexpr mode_t kAll = 0777;
  struct stat status {};
  if (::fstatat(folder, last.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return S_IRWXU;
  return (status.st_mode & kAll) | S_IRWXU;
}

void FolderSum::add(const std::string& entry) {
  base::Sha256 sha256;
  sha256.add(entry);
  const base::Sha256Digest digest = sha256.finish();
  for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] ^= digest[i];
}

void FolderSum::add_file(std::string_view name, const FileVersion& version) {
  add(fmt::format("file {} {} {} {}", version.size_bytes, version.modified_ns, version.changed_ns,
                  name));
}

void FolderSum::add_folder(std::string_view name) { add(fmt::format("folder {}", name)); }

std::optional<FolderSum> sum_below(int folder, const MayGoOn& may_go_on) {
  net::Fd top(::openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  FolderTrail trail;
  if (!top.is_open() || !trail.begin(std::move(top))) return {};
  FolderSum sum;
  for (std::vector<std::string> folders = {""}; !folders.empty();) {
    if (!may_go_on()) return {};
    const std::string next = std::move(folders.back());
    folders.pop_back();
    if (!go_to(trail, next) || !add_to(sum, trail.fd(), next, folders)) return {};
  }
  return sum;
}

int FolderCopy::left_out() {
  has_left_out_ = true;
  return 0;
}

int FolderCopy::copy(const std::string& from, int to) {
  net::Fd top(::openat(to, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top.is_open() || !to_.begin(std::move(top))) return errno;
  folders_ = {""};
  while (!folders_.empty()) {
    if (!may_go_on_()) return ECANCELED;
    const std::string folder = std::move(folders_.back());
    folders_.pop_back();
    if (!go_to(to_, folder)) return errno;
    if (const int failure = copy_folder(folder, from); failure != 0) return failure;
  }
  // One for all of them.
  return ::syncfs(to) == 0 ? 0 : errno;
}

int FolderCopy::copy_folder(const std::string& folder, const std::string& from) {
  auto opened = fence_.open_folder(joined(from, folder));
  if (!opened) return opened.error().code == base::ErrorCode::kNotFound ? left_out() : EIO;
  const OpenFolder list(::fdopendir(opened->get()));
  if (list == nullptr) return errno;
  const Both both{opened->release(), joined(from, folder), joined(to_name_, folder)};
  while (const dirent* const entry = next_entry(list)) {
    const std::string last = entry->d_name;
    if (is_upload_name(last)) {
      if (!goes_by_itself(last)) left_out();
      continue;
    }
    if (!may_go_on_()) return ECANCELED;
    const unsigned char type = type_of(*entry, list);
    if (const int failure = copy_entry(both, last, type, folder); failure != 0) return failure;
  }
  return errno;
}

int FolderCopy::copy_entry(const Both& both, const std::string& last, unsigned char type,
                           const std::string& folder) {
  if (type == DT_REG || type == DT_LNK) return copy_file(both, last, type == DT_LNK, folder);
  if (type != DT_DIR) return left_out();
  if (::mkdirat(to_.fd(), last.c_str(), mode_of_copy(both.from, last)) != 0) return errno;
  folders_.push_back(joined(folder, last));
  sum_.add_folder(folders_.back());
  return 0;
}

int FolderCopy::copy_file(const Both& both, const std::string& last, bool is_link,
                          const std::string& folder) {
  const std::string name = joined(both.from_name, last);
  const auto file =
      fence_.open_file(name, is_link ? Fence::Links::kFollowed : Fence::Links::kRefused);
  if (!file) return file.error().code == base::ErrorCode::kNotFound ? left_out() : EIO;
  if (is_link) has_left_out_ = true;  // the link itself
  constexpr mode_t kOwn = 0600;
  const net::Fd copied(
      ::openat(to_.fd(), last.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwn));
  if (!copied.is_open()) return errno;
  FileVersion version;
  if (const int failure = copy_one_version(file->fd.get(), copied.get(), may_go_on_, &version);
      failure != 0)
    return failure;
  sum_.add_file(joined(folder, last), version);
  if (!is_link) {
    if (!keep_permissions(copied.get(), both.from, last)) return errno;
  } else if (const auto real = fence_.real_name(name)) {
    const Location location = locations_.find(*real);
    if (location.status == UploadStatus::kGoOn &&
        !keep_permissions(copied.get(), location.fd(), location.last))
      return errno;
  }
  times_.give(copied.get(), joined(both.to_name, last), 0);
  return 0;
}

int copy_one_version(int from, int to, const MayGoOn& may_go_on, FileVersion* copied) {
  for (int i = 0; i < kCopyTries; ++i) {
    FileVersion version = version_to_read(from);
    if (const int left_ms = unsettled_ms(version); left_ms > 0) {
      base::pause_ms(left_ms);
      version = version_to_read(from);
    }
    if (version.size_bytes < 0) return EIO;
    const int failure = copy_bytes(from, to, version.size_bytes, may_go_on);
    if (failure != 0 && failure != EBUSY) return failure;
    if (failure == 0 && is_settled(version) && have_same_content(version, version_of(from))) {
      if (copied != nullptr) *copied = version;
      return 0;
    }
    if (::ftruncate(to, 0) != 0) return errno;
  }
  return EBUSY;
}

}  // namespace fileserver
