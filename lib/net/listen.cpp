#include "net/listen.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>

#include "base/host.h"
#include "base/waits.h"
#include "net/socket_io.h"

namespace net {

namespace {

using base::Error;
using base::ErrorCode;

std::string what_is_tried(const HostPort& address) { return "listen on " + to_string(address); }

constexpr std::string_view kWayOut = "; another program uses the port, and port 0 takes a free one";

// 0: as it is.
void set_send_buffer(int fd, int bytes) {
  if (bytes > 0) ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

base::Result<Fd> bound_socket(const SocketAddress& address, const std::string& what,
                              int send_buffer_bytes) {
  Fd fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return base::errno_error(ErrorCode::kInternal, what, errno);
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  notice_vanished_peer(fd.get());
  // Accepted connections inherit this. Without it, the kernel buffers megabytes for each peer that
  // does not read, and some hundred such peers use up the memory of all connections of the host.
  // Bytes on their way to the peer do not count, so fast peers are sent to as fast as before.
  // With 64 KiB, what is sent is still in the processor's cache when the peer receives it.
  const int most_unsent_bytes = 64 * 1024;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most_unsent_bytes,
               sizeof most_unsent_bytes);
  set_send_buffer(fd.get(), send_buffer_bytes);
  if (::bind(fd.get(), address.get(), address.size()) != 0) {
    const int reason = errno;
    auto failure = base::errno_error(ErrorCode::kInternal, what, reason);
    if (reason == EADDRINUSE) failure.context += kWayOut;
    return failure;
  }
  return fd;
}

// What accepted TCP sockets inherit by themselves.
void inherit_time_slice(int listener, int accepted) {
  timeval slice{};
  socklen_t size = sizeof slice;
  if (::getsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &slice, &size) != 0) return;
  set_io_timeout(accepted, slice.tv_sec * 1000 + slice.tv_usec / 1000);
}

std::uint16_t port_of(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return 0;
  return SocketAddress(reinterpret_cast<sockaddr*>(&storage), size).port();
}

}  // namespace

base::Result<Listener> bind_to(const HostPort& address, std::int64_t io_slice_ms,
                               int send_buffer_bytes) {
  const std::string what = what_is_tried(address);
  if (address.is_unix()) {
    auto bound = bind_unix(address.unix_path(), what);
    if (!bound) return bound.error();
    if (io_slice_ms > 0) set_io_timeout(bound->fd.get(), io_slice_ms);
    set_send_buffer(bound->fd.get(), send_buffer_bytes);
    return Listener{std::move(bound->fd), address, std::move(bound->file)};
  }
  auto addresses = resolve(address);
  if (!addresses) return Error{ErrorCode::kInternal, what + ": " + addresses.error().context};
  auto fd = bound_socket(addresses->front(), what, send_buffer_bytes);
  if (!fd) return fd.error();
  if (io_slice_ms > 0) set_io_timeout(fd->get(), io_slice_ms);
  const std::uint16_t port = port_of(fd->get());
  return Listener{std::move(*fd), {address.host, port}, {}};
}

base::Status start_listening(const Listener& listener) {
  if (::listen(listener.fd.get(), longest_backlog()) == 0) return base::kDone;
  return base::errno_error(ErrorCode::kInternal, what_is_tried(listener.address), errno);
}

base::Result<Listener> listen_on(const HostPort& address, std::int64_t io_slice_ms) {
  auto listener = bind_to(address, io_slice_ms);
  if (!listener) return listener;
  if (auto listening = start_listening(*listener); !listening) return listening.error();
  return listener;
}

Accepted accept_from(int listener) {
  sockaddr_storage storage;
  auto& peer = reinterpret_cast<sockaddr&>(storage);
  peer.sa_family = AF_UNSPEC;
  socklen_t size = sizeof storage;
  const bool may_block = base::my_waits == nullptr;
  Fd fd(::accept4(listener, &peer, &size, SOCK_CLOEXEC | (may_block ? 0 : SOCK_NONBLOCK)));
  if (fd.is_open()) {
    if (peer.sa_family == AF_UNIX) inherit_time_slice(listener, fd.get());
    return {AcceptVerdict::kAccepted, std::move(fd), IpAddress(peer)};
  }
  const int failure = errno;
  switch (failure) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM: return {AcceptVerdict::kOutOfResources, Fd(), {}, failure};
    case EINVAL:
    case EBADF:
    case ENOTSOCK: return {AcceptVerdict::kListenerGone, Fd(), {}, failure};
    case EAGAIN:
      if (!may_block) base::my_waits->wait_for(listener, POLLIN, INT64_MAX);
      return {AcceptVerdict::kTryAgain, Fd(), {}, failure};
    default: base::has_worked(1); return {AcceptVerdict::kTryAgain, Fd(), {}, failure};
  }
}

int longest_backlog() {
  return static_cast<int>(base::number_in("/proc/sys/net/core/somaxconn", SOMAXCONN));
}

}  // namespace net
