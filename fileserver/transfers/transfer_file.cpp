#include "fileserver/transfers/transfer_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "base/file_io.h"

namespace fileserver {

namespace {

using base::ErrorCode;

bool are_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Whether the folder `top` is the given folder, or one above it. The kernel follows "..", so links
// and the spelling of paths do not matter.
bool is_beneath(const std::string& top, const std::string& folder) {
  struct stat wanted {};
  if (::stat(top.c_str(), &wanted) != 0) return false;
  net::Fd here(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::optional<struct stat> below;
  while (here.is_open()) {
    struct stat status {};
    if (::fstat(here.get(), &status) != 0 || (below && are_same(*below, status))) return false;
    if (are_same(status, wanted)) return true;
    below = status;
    here = net::Fd(::openat(here.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  return false;
}

// The folder that an open file is in, wherever links have led to.
std::string folder_of(int fd) {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), ignored)
      .parent_path();
}

// Whether the disk has room for one page more. It is asked for without changing the file's size.
bool has_room(int fd, off_t size) {
  constexpr off_t kPageBytes = 4096;
  if (::fallocate(fd, FALLOC_FL_KEEP_SIZE, size, kPageBytes) == 0) return true;
  return errno != ENOSPC && errno != EDQUOT && errno != EFBIG;
}

// A process that was killed, or a power cut, may have left a line without its end.
bool ends_inside_a_line(const std::string& path, off_t size) {
  const net::Fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  char last = '\n';
  return size > 0 && fd.is_open() && base::read_at(fd.get(), {&last, 1}, size - 1) == 1 &&
         last != '\n';
}

}  // namespace

std::vector<std::string> paths_of_log(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::path target = fs::weakly_canonical(path, failure);
  if (fs::exists(target, failure) && !fs::is_regular_file(target, failure)) return {target};
  return {fs::absolute(path, failure).parent_path(), target.parent_path()};
}

base::Status TransferFile::open() {
  const std::string what = "open the transfer log " + path_;
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  net::Fd fd(::open(path_.c_str(), kFlags));
  const bool is_made = !fd.is_open() && errno == ENOENT;
  if (is_made) fd = net::Fd(::open(path_.c_str(), kFlags | O_CREAT, 0640));
  struct stat status {};
  if (!fd.is_open() || ::fstat(fd.get(), &status) != 0)
    return base::errno_error(ErrorCode::kInternal, what, errno);
  const bool is_regular = S_ISREG(status.st_mode);
  if (is_regular && is_beneath(served_folder_, folder_of(fd.get()))) {
    if (is_made) ::unlink(path_.c_str());
    return base::Error{ErrorCode::kInternal,
                       what + ": it is in the served folder, where clients can read it"};
  }
  if (is_regular && !has_room(fd.get(), status.st_size))
    return base::errno_error(ErrorCode::kInternal, what, errno);
  fd_ = std::move(fd);
  is_regular_ = is_regular;
  if (is_regular && ends_inside_a_line(path_, status.st_size)) base::write_all(fd_.get(), "\n");
  return base::kDone;
}

std::size_t TransferFile::append(std::string_view lines) {
  std::size_t written = 0;
  while (written < lines.size()) {
    const auto rest = lines.substr(written);
    const ssize_t now = base::retried([&] { return ::write(fd_.get(), rest.data(), rest.size()); });
    if (now < 0) break;
    written += static_cast<std::size_t>(now);
  }
  if (written == lines.size() || !is_regular_) return written;
  const int errno_before = errno;
  const std::size_t whole = cut_to_whole_lines(lines.substr(0, written));
  errno = errno_before;
  return whole;
}

// Removes the beginning of a line from the end of the file. It stays if somebody else has appended
// something meanwhile.
std::size_t TransferFile::cut_to_whole_lines(std::string_view written) const {
  const std::size_t whole = written.rfind('\n') + 1;  // 0 if there is none
  const auto torn = static_cast<off_t>(written.size() - whole);
  const off_t end = ::lseek(fd_.get(), 0, SEEK_CUR);
  struct stat status {};
  const bool is_last = ::fstat(fd_.get(), &status) == 0 && status.st_size == end;
  if (torn == 0 || !is_last || ::ftruncate(fd_.get(), end - torn) != 0) return written.size();
  return whole;
}

}  // namespace fileserver
