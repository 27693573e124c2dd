// The system calls on a socket. A call that a signal interrupts is repeated. Where the thread has a
// base::Waits, its sockets never block (SOCK_NONBLOCK), and the waiting calls wait there.
//
// Sending to a peer that has closed the connection fails with EPIPE, and may raise SIGPIPE.
// Requires: the program ignores SIGPIPE (base::hold_stop_signals()).
#pragma once

#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.h"

namespace net {

// Sets how long one blocking call on `fd` may sleep. When the time is over, receive() fails with
// EAGAIN, and a send fails with EAGAIN or sends only a part.
void set_io_timeout(int fd, std::int64_t timeout_ms);

// Makes the system notice when the peer has vanished without closing the connection. It asks the
// peer's system once nothing has happened for a minute, and then every ten seconds. After six
// questions without an answer, calls on `fd` fail with ETIMEDOUT. A peer that is only silent keeps
// its connection. Accepted sockets inherit this from their listener.
//
// Bytes that the peer does not acknowledge are another case. The system gives up on them after
// about 15 minutes (net.ipv4.tcp_retries2). A shorter TCP_USER_TIMEOUT would also end connections
// of peers that are alive and do not read for a while.
void notice_vanished_peer(int fd);

// Whether closing the socket resets the connection. The peer then sees an error instead of an end,
// and bytes that it has not taken yet may be lost. It is so too when the process is killed.
void reset_at_close(int fd, bool resets);

// Waits for bytes and receives them. Returns their number, 0 at the end of the stream, or -1 with
// errno.
ssize_t receive(int fd, std::span<char> into);

// The same without waiting: fails with EAGAIN if no byte is there.
ssize_t receive_now(int fd, std::span<char> into);

// Receives like receive(), for a caller that only counts the bytes. What `into` holds afterwards is
// undefined: on TCP the system throws the bytes away instead of copying them.
ssize_t discard(int fd, std::span<char> into);

// Sends the parts one after another. Returns how many bytes the kernel took, or -1 with errno.
ssize_t send_parts(int fd, std::span<iovec> parts);

// The same for the last bytes of a connection that is closed at once: the kernel waits for that,
// for 200 ms at most, before it sends an incomplete packet.
ssize_t send_last_parts(int fd, std::span<iovec> parts);

// Sends the first part of a message whose rest follows at once: the kernel waits for that
// before it sends an incomplete packet.
ssize_t send_first(int fd, std::span<const char> bytes);

// A range of an open file.
struct FilePart {
  int fd = -1;
  std::int64_t offset = 0;
  std::size_t size_bytes = 0;
};

// Sends a range of a file without copying it, or as much of it as send_parts() would. Returns how
// many bytes the kernel took, 0 if the file ends before the range, or -1 with errno.
ssize_t send_file(int fd, const FilePart& part);

// While it exists, calls that send on a socket that never blocks do so, each for at most so long
// without sending a byte. One thread may use the socket then, and others only receive.
class BlockingSends {
 public:
  BlockingSends(int fd, int at_most_ms);
  ~BlockingSends();
  BlockingSends(const BlockingSends&) = delete;
  BlockingSends& operator=(const BlockingSends&) = delete;

 private:
  const int fd_;
  timeval limit_before_{};
};

// Sends all bytes. Returns false with errno on failure; a time-out (see set_io_timeout()) is one.
bool send_all(int fd, std::string_view bytes);

// Sends without waiting as many of the bytes as there is room for. Returns their number, or -1 with
// errno: EAGAIN if there is no room.
ssize_t send_now(int fd, std::string_view bytes);

// Return false if the deadline passes first. They also return true if the connection has ended or
// failed; the next call on `fd` then reports that.
bool wait_until_readable(int fd, base::Deadline deadline);
bool wait_until_writable(int fd, base::Deadline deadline);
bool wait_until_either(int fd, base::Deadline deadline);

// Returns how many sent bytes the peer's kernel has not acknowledged yet.
int unacknowledged_bytes(int fd);

// Returns how many bytes have arrived and not been received yet.
int unread_bytes(int fd);

// Whether neither side has finished sending. False for a socket that is not TCP. Does not ask
// whether this side still receives.
bool is_established(int fd);

// Whether nobody can take what is sent on the connection: this side has shut it down in both
// directions, or the peer has reset it. False if the peer has only finished sending. Never waits.
bool is_hung_up(int fd);

// Whether the peer of a TCP connection has finished sending, and all it has sent was received. It
// has closed the connection, or still receives: that cannot be told apart. Never waits.
bool has_peer_finished(int fd);

// Whether an idle connection can be used again: its peer has not closed it, and no byte has arrived
// that nobody asked for. Never waits.
bool is_quiet_and_open(int fd);

}  // namespace net
