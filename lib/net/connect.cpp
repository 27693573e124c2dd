#include "net/connect.h"

#include <netinet/tcp.h>

#include <cerrno>

#include "base/file_io.h"
#include "base/waits.h"
#include "net/socket_io.h"

namespace net {

namespace {

// Connects to a Unix-domain socket. Returns 0, or the errno of the failure. It waits only while the
// server's queue is full, and can be repeated when a signal interrupts it.
int connect_unix(int fd, const SocketAddress& address, base::Deadline deadline) {
  constexpr int kLookAgainMs = 1;  // nobody tells when the queue has room again
  for (;;) {
    if (base::retried([&] { return ::connect(fd, address.get(), address.size()); }) == 0) return 0;
    if (errno != EAGAIN) return errno;
    if (base::my_waits == nullptr || deadline.has_passed()) return ETIMEDOUT;
    base::pause_ms(kLookAgainMs);
  }
}

// Returns 0, or the errno of the failure. The socket's own time-out limits a blocking connect. A
// connect that a signal interrupts goes on in the kernel and cannot be repeated, so its end is
// waited for.
int connect_within(int fd, const SocketAddress& address, std::int64_t limit_ms) {
  const auto deadline = limit_ms > 0 ? base::Deadline::in_ms(limit_ms) : base::Deadline::never();
  if (address.is_unix()) return connect_unix(fd, address, deadline);
  if (::connect(fd, address.get(), address.size()) == 0) return 0;
  if (errno == EINPROGRESS && base::my_waits == nullptr) return ETIMEDOUT;
  if (errno != EINTR && errno != EINPROGRESS) return errno;
  if (!wait_until_writable(fd, deadline)) return ETIMEDOUT;
  return outcome_of_connect(fd);
}

// Returns no descriptor, and errno, if there is none.
Fd open_socket(const SocketAddress& address, int more_flags) {
  Fd fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | more_flags, 0));
  if (!fd.is_open() || address.is_unix()) return fd;
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

int bind_source(int fd, const SocketAddress& source) {
  // The kernel chooses the local port in connect(), not here. Then connections to different targets
  // can share a port.
  const int on = 1;
  ::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  return ::bind(fd, source.get(), source.size()) == 0 ? 0 : errno;
}

}  // namespace

base::Result<Fd> connect_to(const SocketAddress& address, std::int64_t timeout_ms,
                            const SocketAddress* source, std::int64_t connect_ms) {
  const auto failed = [&](int errno_value) {
    return base::errno_error(base::ErrorCode::kUnavailable, "connect to " + address.text(),
                             errno_value);
  };
  Fd fd = open_socket(address, base::my_waits == nullptr ? 0 : SOCK_NONBLOCK);
  if (!fd.is_open()) return failed(errno);
  const std::int64_t connect_limit_ms = connect_ms > 0 ? connect_ms : timeout_ms;
  if (connect_limit_ms > 0) set_io_timeout(fd.get(), connect_limit_ms);
  if (source != nullptr) {
    if (const int failure = bind_source(fd.get(), *source); failure != 0) return failed(failure);
  }
  if (const int failure = connect_within(fd.get(), address, connect_limit_ms); failure != 0)
    return failed(failure);
  if (connect_limit_ms != timeout_ms) set_io_timeout(fd.get(), timeout_ms);
  return fd;
}

base::Result<Fd> begin_to_connect(const SocketAddress& address, const SocketAddress* source,
                                  int receive_buffer_bytes) {
  const auto failed = [&](int errno_value) {
    return base::errno_error(base::ErrorCode::kUnavailable, "connect to " + address.text(),
                             errno_value);
  };
  Fd fd = open_socket(address, SOCK_NONBLOCK);
  if (!fd.is_open()) return failed(errno);
  // The window that TCP announces follows from the buffer, so it is set before connecting.
  if (receive_buffer_bytes > 0) {
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes,
                 sizeof receive_buffer_bytes);
  }
  if (source != nullptr) {
    if (const int failure = bind_source(fd.get(), *source); failure != 0) return failed(failure);
  }
  if (::connect(fd.get(), address.get(), address.size()) == 0 || errno == EINPROGRESS) return fd;
  const bool is_queue_full = address.is_unix() && errno == EAGAIN;
  base::Error failure = failed(errno);
  if (is_queue_full) failure.code = base::ErrorCode::kBusy;
  return failure;
}

int outcome_of_connect(int fd) {
  int outcome = 0;
  socklen_t size = sizeof outcome;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &outcome, &size);
  return outcome;
}

}  // namespace net
