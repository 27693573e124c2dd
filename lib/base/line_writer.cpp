#include "base/line_writer.h"

#include <fmt/core.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "base/file_io.h"

namespace base {

namespace {

bool is_pipe(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

// Whether a pipe has room for PIPE_BUF bytes, and a socket for a few lines.
bool has_room(int fd) {
  pollfd wanted{fd, POLLOUT, 0};
  return ::poll(&wanted, 1, 0) > 0;
}

}  // namespace

LineWriter::LineWriter(int fd) : fd_(fd), is_pipe_(is_pipe(fd)) {}

bool LineWriter::write(std::string_view line) {
  bool is_written = false;
  if (lost_ == 0) {
    is_written = write_now(line);
  } else if (has_room(fd_)) {
    is_written = write_now(fmt::format(
        "{} lines of the log were lost here: nobody read them, and there was no room\n{}", lost_,
        line));
  }
  lost_ = is_written ? 0 : lost_ + 1;
  return is_written;
}

bool LineWriter::write_now(std::string_view bytes) const {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, PIPE_BUF);
    if (!write_piece(piece)) return false;
    bytes.remove_prefix(piece.size());
  }
  return true;
}

// Another process may take the room after it was seen. Kernels from 6.4 on do not wait then.
bool LineWriter::write_piece(std::string_view piece) const {
  if (!has_room(fd_)) return false;
  if (is_pipe_) {
    const iovec part{const_cast<char*>(piece.data()), piece.size()};
    const ssize_t written = retried([&] { return ::pwritev2(fd_, &part, 1, -1, RWF_NOWAIT); });
    if (written >= 0 || errno == EAGAIN) return written == static_cast<ssize_t>(piece.size());
  }
  return write_all(fd_, piece);
}

}  // namespace base
