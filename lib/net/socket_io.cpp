#include "net/socket_io.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>

#include "base/file_io.h"
#include "base/waits.h"

namespace net {

namespace {

bool is_ready(int fd, short events, int within_ms) {
  pollfd waiting{fd, events, 0};
  return base::retried([&] { return ::poll(&waiting, 1, within_ms); }) > 0;
}

// Until a deadline that has passed it only looks, also where nobody may wait.
bool wait_for(int fd, short events, base::Deadline deadline) {
  if (base::my_waits == nullptr) return is_ready(fd, events, deadline.left_ms());
  if (is_ready(fd, events, 0)) return true;
  return !deadline.has_passed() && base::my_waits->wait_for(fd, events, deadline.at_ns());
}

// How long a call on the socket may sleep, as set_io_timeout() was told.
std::int64_t limit_of_call_ms(int fd, short events) {
  timeval limit{};
  socklen_t size = sizeof limit;
  ::getsockopt(fd, SOL_SOCKET, events == POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO, &limit, &size);
  return limit.tv_sec * 1000 + limit.tv_usec / 1000;
}

// The same as a time. A socket of which something is known is asked once.
base::Deadline end_of_call(int fd, short events, base::KnownOfSocket* known) {
  std::int64_t asked_ms = -1;
  std::int64_t& limit_ms = known == nullptr   ? asked_ms
                           : events == POLLIN ? known->receive_limit_ms
                                              : known->send_limit_ms;
  if (limit_ms < 0) limit_ms = limit_of_call_ms(fd, events);
  return limit_ms == 0 ? base::Deadline::never() : base::Deadline::in_ms(limit_ms);
}

// Of a call on a socket that is known to be empty: it would find nothing.
ssize_t found_nothing() {
  errno = EAGAIN;
  return -1;
}

// Makes a system call on the socket. Where the thread does not block in it, because it has other
// connections, this waits here for as long as the call would. Where the system is short of memory,
// a call may fail though there is room. No event follows then, so this tries again by itself.
template <typename Call>
ssize_t waited(int fd, short events, Call call) {
  if (base::my_waits == nullptr) return base::retried(call);
  base::KnownOfSocket* const known = base::my_waits->known_of(fd);
  const bool is_empty = events == POLLIN && known != nullptr && known->is_empty;
  ssize_t done = is_empty ? found_nothing() : base::retried(call);
  constexpr int kTryAgainMs = 10;
  auto deadline = base::Deadline::never();
  for (int tries = 0; done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK); ++tries) {
    if (tries == 0) deadline = end_of_call(fd, events, known);
    const bool has_room = events == POLLOUT && is_ready(fd, events, 0);
    if (has_room && tries > 0) base::pause_ms(kTryAgainMs);
    const bool is_in_time =
        has_room ? !deadline.has_passed() : base::my_waits->wait_for(fd, events, deadline.at_ns());
    errno = EAGAIN;
    if (!is_in_time) return -1;
    done = base::retried(call);
  }
  return done;
}

// Takes the result of a call that receives. One that has received fewer bytes than it had room for
// has taken all that was there, unless the stream goes no further.
ssize_t noted(ssize_t got, int fd, std::size_t room) {
  if (got <= 0 || static_cast<std::size_t>(got) == room || base::my_waits == nullptr) return got;
  base::KnownOfSocket* const known = base::my_waits->known_of(fd);
  if (known != nullptr) known->is_empty = !known->has_ended;
  return got;
}

}  // namespace

void set_io_timeout(int fd, std::int64_t timeout_ms) {
  const timeval limit{timeout_ms / 1000, (timeout_ms % 1000) * 1000};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

void notice_vanished_peer(int fd) {
  const int on = 1;
  const int idle_s = 60;
  const int interval_s = 10;
  const int questions = 6;
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &questions, sizeof questions);
}

void reset_at_close(int fd, bool resets) {
  const linger at_once{.l_onoff = resets ? 1 : 0, .l_linger = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

ssize_t receive(int fd, std::span<char> into) {
  const auto call = [&] { return ::recv(fd, into.data(), into.size(), 0); };
  return noted(waited(fd, POLLIN, call), fd, into.size());
}

ssize_t receive_now(int fd, std::span<char> into) {
  const auto call = [&] { return ::recv(fd, into.data(), into.size(), MSG_DONTWAIT); };
  return noted(base::retried(call), fd, into.size());
}

ssize_t discard(int fd, std::span<char> into) {
  const auto call = [&] { return ::recv(fd, into.data(), into.size(), MSG_TRUNC); };
  return noted(waited(fd, POLLIN, call), fd, into.size());
}

// Not sendmsg(): in the sandbox each sendmsg() and sendto() costs a look at its flags.
ssize_t send_parts(int fd, std::span<iovec> parts) {
  return waited(fd, POLLOUT,
                [&] { return ::writev(fd, parts.data(), static_cast<int>(parts.size())); });
}

ssize_t send_last_parts(int fd, std::span<iovec> parts) {
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return waited(fd, POLLOUT, [&] { return ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_MORE); });
}

ssize_t send_first(int fd, std::span<const char> bytes) {
  return waited(fd, POLLOUT,
                [&] { return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_MORE); });
}

ssize_t send_file(int fd, const FilePart& part) {
  off_t offset = part.offset;
  return waited(fd, POLLOUT, [&] { return ::sendfile(fd, part.fd, &offset, part.size_bytes); });
}

BlockingSends::BlockingSends(int fd, int at_most_ms) : fd_(fd) {
  socklen_t size = sizeof limit_before_;
  ::getsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit_before_, &size);
  const timeval limit{0, at_most_ms * 1000};
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  int never_blocks = 0;
  ::ioctl(fd_, FIONBIO, &never_blocks);
}

BlockingSends::~BlockingSends() {
  int never_blocks = 1;
  ::ioctl(fd_, FIONBIO, &never_blocks);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit_before_, sizeof limit_before_);
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    const ssize_t sent = send_parts(fd, {&part, 1});
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

ssize_t send_now(int fd, std::string_view bytes) {
  return base::retried(
      [&] { return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT); });
}

bool wait_until_readable(int fd, base::Deadline deadline) { return wait_for(fd, POLLIN, deadline); }

bool wait_until_writable(int fd, base::Deadline deadline) {
  return wait_for(fd, POLLOUT, deadline);
}

bool wait_until_either(int fd, base::Deadline deadline) {
  return wait_for(fd, POLLIN | POLLOUT, deadline);
}

int unacknowledged_bytes(int fd) {
  int bytes = 0;
  return ::ioctl(fd, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

int unread_bytes(int fd) {
  int bytes = 0;
  return ::ioctl(fd, SIOCINQ, &bytes) == 0 ? bytes : 0;
}

namespace {

bool is_in_state(int fd, int state) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_state == state;
}

}  // namespace

bool is_established(int fd) { return is_in_state(fd, TCP_ESTABLISHED); }

// POLLRDHUP would also tell that this side has shut down its receiving.
bool has_peer_finished(int fd) { return is_in_state(fd, TCP_CLOSE_WAIT) && unread_bytes(fd) == 0; }

bool is_hung_up(int fd) {
  pollfd event{fd, 0, 0};
  return ::poll(&event, 1, 0) > 0 && (event.revents & (POLLHUP | POLLERR)) != 0;
}

bool is_quiet_and_open(int fd) {
  char byte = 0;
  const ssize_t peeked =
      base::retried([&] { return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT); });
  return peeked < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace net
