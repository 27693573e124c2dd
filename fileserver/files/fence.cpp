#include "fileserver/files/fence.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/file_io.h"
#include "base/log.h"
#include "fileserver/files/upload_name.h"
#include "guard/user.h"
#include "wire/request.h"

namespace fileserver {

namespace {

using base::Error;
using base::ErrorCode;

// The kernel would take a NUL for the end of the name. No protocol can ask for a line break, so one
// that comes here is an attempt to make two requests of one.
constexpr std::string_view kNeverInNames("\0\r\n", 3);

// Opens with O_PATH. Returns a descriptor, or -1 with errno.
long open_beneath(int folder, const char* name, std::uint64_t resolve) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve;
  constexpr int kTries = 8;  // EAGAIN means that something was renamed on the way
  long fd = -1;
  for (int i = 0; i < kTries; ++i) {
    fd = base::retried([&] { return ::syscall(SYS_openat2, folder, name, &how, sizeof how); });
    if (fd >= 0 || errno != EAGAIN) break;
  }
  return fd;
}

// The same without openat2. Fails at a link on the way. A link at the end is opened itself, which
// is not a regular file. Requires: wire::is_file_name(name).
long open_part_by_part(int folder, std::string_view name) {
  net::Fd here;
  for (;;) {
    const std::size_t slash = name.find('/');
    const bool is_last = slash == std::string_view::npos;
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC | (is_last ? 0 : O_DIRECTORY);
    net::Fd next(::openat(here.is_open() ? here.get() : folder,
                          std::string(name.substr(0, slash)).c_str(), flags));
    if (is_last || !next.is_open()) return next.release();
    here = std::move(next);
    name.remove_prefix(slash + 1);
  }
}

std::string path_of_fd(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// Opened through /proc, because the name may stand for another file by now.
net::Fd open_again(int path_fd, int extra_flags) {
  return net::Fd(::open(path_of_fd(path_fd).c_str(), O_RDONLY | O_CLOEXEC | extra_flags));
}

// The path that /proc shows for an open descriptor; empty on failure.
std::string target_of_fd(int fd) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = ::readlink(path_of_fd(fd).c_str(), target.data(), target.size());
  return size > 0 ? std::string(target.data(), static_cast<std::size_t>(size)) : std::string();
}

Error root_error(const std::string& root, int errno_value) {
  std::string what = "open the served folder " + root;
  if (errno_value == EACCES) what += " as user " + guard::user_name();
  Error error = base::errno_error(ErrorCode::kInternal, what, errno_value);
  if (errno_value == ENOENT) error.context += "; make it with mkdir";
  return error;
}

Error open_error(std::string_view name, int errno_value) {
  const auto code = is_system_failure(errno_value) ? ErrorCode::kInternal : ErrorCode::kNotFound;
  return base::errno_error(code, "open " + std::string(name), errno_value);
}

}  // namespace

bool is_system_failure(int errno_value) {
  return errno_value == EMFILE || errno_value == ENFILE || errno_value == ENOMEM ||
         errno_value == EIO;
}

base::Result<Fence> Fence::around(const std::string& root) {
  net::Fd fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return root_error(root, errno);
  if (::faccessat(AT_FDCWD, path_of_fd(fd.get()).c_str(), R_OK | X_OK, AT_EACCESS) != 0)
    return root_error(root, errno);
  const net::Fd probe(static_cast<int>(open_beneath(fd.get(), ".", 0)));
  if (!probe.is_open())
    base::log::warn("openat2 is not available, links in the served folder are not followed");
  if (target_of_fd(fd.get()).empty())
    return base::errno_error(ErrorCode::kInternal, "read /proc/self/fd", errno);
  return Fence(root, std::move(fd), probe.is_open());
}

std::string Fence::root_path() const { return path_of_fd(root_.get()); }

std::optional<std::string> Fence::folder_above() const {
  std::string path = root_path() + "/..";
  struct stat above {};
  struct stat top {};
  if (::stat(path.c_str(), &above) != 0 || ::stat("/", &top) != 0) return {};
  if (above.st_dev == top.st_dev && above.st_ino == top.st_ino) return {};
  return path;
}

long Fence::open_path(const std::string& name, Links links) const {
  if (!has_openat2_) return open_part_by_part(root_.get(), name);
  return open_beneath(root_.get(), name.c_str(),
                      links == Links::kRefused ? RESOLVE_NO_SYMLINKS : 0);
}

// A sandbox may allow only the first folder, because it allows a folder and not a name.
void Fence::warn_if_closed() const {
  const net::Fd probe(::open(root_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!probe.is_open())
    base::log::error("the new served folder cannot be read hint=\"restart the fileserver\"");
}

// Returns whether the root was removed, and is there again. Keeps errno otherwise. Other threads
// use the old root or the new one, because dup3() replaces what the descriptor stands for at once.
bool Fence::open_removed_root_again() const {
  const int errno_before = errno;
  struct stat status {};
  if (::fstat(root_.get(), &status) == 0 && status.st_nlink == 0) {
    const net::Fd again(::open(name_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (again.is_open() && ::dup3(again.get(), root_.get(), O_CLOEXEC) >= 0) {
      ++*times_opened_again_;
      base::log::warn("the served folder was removed and made again, the new one is served");
      warn_if_closed();
      return true;
    }
  }
  errno = errno_before;
  return false;
}

base::Result<Fence::Located> Fence::locate_any(std::string_view name, Links links) const {
  if (!wire::is_file_name(name) || is_upload_name(name) ||
      name.find_first_of(kNeverInNames) != std::string_view::npos || leads_to_ours(name))
    return Error{ErrorCode::kNotFound, "not a file name"};
  long fd = open_path(std::string(name), links);
  if (fd < 0 && errno == ENOENT && open_removed_root_again())
    fd = open_path(std::string(name), links);
  if (fd < 0) return open_error(name, errno);
  Located located{net::Fd(static_cast<int>(fd)), {}};
  if (!read_status(located.path.get(), located.status)) return open_error(name, errno);
  return located;
}

// Both are in the served folder, so only the first part of the name matters.
bool Fence::leads_to_ours(std::string_view name) const {
  const std::string first(name.substr(0, name.find('/')));
  const auto may_be_another = [](char byte) { return byte == '~' || (byte & 0x80) != 0; };
  if (std::ranges::none_of(first, may_be_another)) return false;
  struct stat there {};
  if (::fstatat(root_.get(), first.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) return false;
  for (const std::string_view ours : {kTrashFolder, kPartsFolder}) {
    struct stat here {};
    if (::fstatat(root_.get(), std::string(ours).c_str(), &here, AT_SYMLINK_NOFOLLOW) == 0 &&
        here.st_dev == there.st_dev && here.st_ino == there.st_ino)
      return true;
  }
  return false;
}

base::Result<Fence::Located> Fence::locate(std::string_view name, Links links) const {
  auto located = locate_any(name, links);
  if (located && !S_ISREG(located->status.st_mode))
    return Error{ErrorCode::kNotFound, "not a regular file"};
  return located;
}

// The empty name is the served folder.
base::Result<Fence::Located> Fence::locate_folder(std::string_view name, Links links) const {
  if (!name.empty()) {
    auto located = locate_any(name, links);
    if (located && !S_ISDIR(located->status.st_mode))
      return Error{ErrorCode::kNotFound, "not a folder"};
    return located;
  }
  Located root{net::Fd(static_cast<int>(open_path(".", links))), {}};
  if (!root.path.is_open() || !read_status(root.path.get(), root.status))
    return open_error(".", errno);
  return root;
}

base::Result<Fence::Folder> Fence::find_folder(std::string_view name) const {
  auto located = locate_folder(name, Links::kFollowed);
  if (!located) return located.error();
  std::string real_name = name.empty() ? std::string() : name_of(located->path.get(), name);
  return Folder{std::move(located->path), std::move(real_name), located->status.st_dev,
                located->status.st_ino};
}

base::Result<bool> Fence::has_its_name(const Folder& folder) const {
  const auto located = locate_folder(folder.name, Links::kRefused);
  if (!located && located.error().code != ErrorCode::kNotFound) return located.error();
  return located && located->status.st_dev == folder.device &&
         located->status.st_ino == folder.inode;
}

base::Result<Fence::OpenFile> Fence::open_file(std::string_view name, Links links, Io io) const {
  const auto located = locate(name, links);
  if (!located) return located.error();
  const int path_fd = located->path.get();
  bool is_direct = io == Io::kDirect;
  net::Fd fd = open_again(path_fd, is_direct ? O_DIRECT : 0);
  if (!fd.is_open() && errno == EINVAL && is_direct) {
    is_direct = false;
    fd = open_again(path_fd, 0);
  }
  if (!fd.is_open()) return open_error(name, errno);
  return OpenFile{std::move(fd), version_in(located->status), is_direct};
}

base::Result<struct stat> Fence::status_of(std::string_view name, Links links) const {
  const auto located = locate(name, links);
  if (!located) return located.error();
  return located->status;
}

base::Result<struct stat> Fence::status_of_readable(std::string_view name) const {
  const auto located = locate_any(name, Links::kFollowed);
  if (!located) return located.error();
  const bool is_folder = S_ISDIR(located->status.st_mode);
  if (!is_folder && !S_ISREG(located->status.st_mode))
    return Error{ErrorCode::kNotFound, "neither a file nor a folder"};
  const std::string path = path_of_fd(located->path.get());
  if (::faccessat(AT_FDCWD, path.c_str(), is_folder ? R_OK | X_OK : R_OK, AT_EACCESS) != 0)
    return open_error(name, errno);
  return located->status;
}

base::Result<net::Fd> Fence::open_folder(std::string_view name) const {
  if (name.empty()) {
    net::Fd root = open_again(root_.get(), O_DIRECTORY);
    if (!root.is_open()) return open_error(".", errno);
    return root;
  }
  const auto located = locate_any(name, Links::kFollowed);
  if (!located) return located.error();
  if (!S_ISDIR(located->status.st_mode)) return Error{ErrorCode::kNotFound, "not a folder"};
  net::Fd folder = open_again(located->path.get(), O_DIRECTORY);
  if (!folder.is_open()) return open_error(name, errno);
  return folder;
}

base::Result<std::string> Fence::real_name(std::string_view name) const {
  const auto located = locate(name, Links::kFollowed);
  if (!located) return located.error();
  return name_of(located->path.get(), name);
}

// The name without links of what was opened as `asked`.
std::string Fence::name_of(int path_fd, std::string_view asked) const {
  const std::string target = target_of_fd(path_fd);
  // The folder may have been renamed since the last call.
  const std::string root = target_of_fd(root_.get());
  if (target == root) return {};
  const std::string prefix = root == "/" ? root : root + "/";
  return target.starts_with(prefix) ? target.substr(prefix.size()) : std::string(asked);
}

std::optional<std::int64_t> created_s(const Fence& fence, std::string_view name) {
  net::Fd fd;
  if (auto file = fence.open_file(name, Fence::Links::kFollowed)) {
    fd = std::move(file->fd);
  } else if (auto folder = fence.find_folder(name)) {
    fd = std::move(folder->fd);
  } else {
    return {};
  }
  struct statx status {};
  if (::statx(fd.get(), "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0) return {};
  if ((status.stx_mask & STATX_BTIME) == 0) return {};
  return status.stx_btime.tv_sec;
}

}  // namespace fileserver
