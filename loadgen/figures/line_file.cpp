#include "loadgen/figures/line_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/file_io.h"

namespace loadgen {

namespace {

// Opening does not wait for the reader of a FIFO, because no signal would end that; writing waits.
net::Fd open_for_writing(const std::string& path) {
  if (path == "-") return net::Fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  net::Fd fd(base::retried([&] { return ::open(path.c_str(), kFlags, 0666); }));
  if (fd.is_open()) ::fcntl(fd.get(), F_SETFL, 0);
  return fd;
}

}  // namespace

base::Result<LineFile> LineFile::open(std::string flag, const std::string& path) {
  net::Fd fd = open_for_writing(path);
  if (!fd.is_open())
    return base::errno_error(base::ErrorCode::kInternal, flag + ": open " + path, errno);
  return LineFile(std::move(flag), path, std::move(fd));
}

bool LineFile::write(std::string_view lines) {
  if (failed_errno_ == 0 && !base::write_all(fd_.get(), lines)) failed_errno_ = errno;
  return failed_errno_ == 0;
}

base::Status LineFile::finish() {
  if (failed_errno_ != 0) {
    return base::errno_error(base::ErrorCode::kInternal, flag_ + ": write " + path_, failed_errno_);
  }
  fd_ = {};
  return base::kDone;
}

}  // namespace loadgen
