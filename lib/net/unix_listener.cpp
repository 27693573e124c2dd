#include "net/unix_listener.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "net/address.h"
#include "net/listen.h"

namespace net {

namespace {

Fd unix_socket() { return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);  // "/" at least, as the path is absolute
}

// Whether `path` is a socket on which nobody listens.
bool is_abandoned(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  const Fd probe = unix_socket();
  const SocketAddress address(path);
  return probe.is_open() &&
         ::fcntl(probe.get(), F_SETFL, O_NONBLOCK) == 0 &&  // its queue may be full
         ::connect(probe.get(), address.get(), address.size()) != 0 && errno == ECONNREFUSED;
}

// Returns 0, or the errno of the failure. Anybody who may read the folder can lock it too, so this
// does not wait for ever.
int lock_folder(int folder) {
  const auto deadline = base::Deadline::in_ms(2'000);
  while (::flock(folder, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return errno;
    if (deadline.has_passed()) return ETIMEDOUT;
    base::pause_ms(10);
  }
  return 0;
}

// Returns 0, or the errno of the failure.
int bind_fresh_or_abandoned(int fd, const std::string& path) {
  const SocketAddress address(path);
  if (::bind(fd, address.get(), address.size()) == 0) return 0;
  if (errno != EADDRINUSE || !is_abandoned(path)) return errno;
  if (::unlink(path.c_str()) != 0) return errno;
  return ::bind(fd, address.get(), address.size()) == 0 ? 0 : errno;
}

}  // namespace

SocketFile::SocketFile(std::string path) : path_(std::move(path)), owner_(::getpid()) {
  struct stat status {};
  if (::lstat(path_.c_str(), &status) != 0) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

SocketFile::~SocketFile() {
  if (path_.empty() || owner_ != ::getpid()) return;
  struct stat status {};
  if (::lstat(path_.c_str(), &status) != 0) return;
  if (status.st_dev == device_ && status.st_ino == inode_) ::unlink(path_.c_str());
}

void SocketFile::swap(SocketFile& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(owner_, other.owner_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
}

// While the folder is locked, no other server of ours is between binding and listening, so whoever
// refuses connections is gone.
base::Result<UnixListener> bind_unix(const std::string& path, const std::string& what) {
  const auto failed = [&](int errno_value) {
    return base::errno_error(base::ErrorCode::kInternal, what, errno_value);
  };
  const Fd folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return failed(errno);
  if (const int failure = lock_folder(folder.get()); failure != 0) return failed(failure);
  Fd fd = unix_socket();
  if (!fd.is_open()) return failed(errno);
  if (const int failure = bind_fresh_or_abandoned(fd.get(), path); failure != 0)
    return failed(failure);
  SocketFile file(path);
  constexpr mode_t kOwnerAndGroup = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP;
  if (::chmod(path.c_str(), kOwnerAndGroup) != 0) return failed(errno);
  if (::listen(fd.get(), longest_backlog()) != 0) return failed(errno);
  return UnixListener{std::move(fd), std::move(file)};
}

}  // namespace net
