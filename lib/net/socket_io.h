// The bare system calls on a socket. A call that a signal interrupts is repeated.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.h"

namespace net {

// No blocking call on `fd` sleeps longer than this; recv and send then fail with EAGAIN, or come
// back short.
void set_io_timeout(int fd, std::int64_t timeout_ms);

// Bytes received, 0 at the end of the stream, -1 with errno.
ssize_t receive(int fd, std::span<char> into);

// The same, but never sleeps: EAGAIN when there is nothing now.
ssize_t receive_now(int fd, std::span<char> into);

// Bytes taken by the kernel, or -1 with errno; never raises SIGPIPE.
ssize_t send_parts(int fd, std::span<iovec> parts);

// All of it, or false with errno; a time-out (see set_io_timeout) is a failure.
bool send_all(int fd, std::string_view bytes);

// False when the deadline passed first. True also when the peer is gone, as the next call on `fd`
// then tells.
bool wait_until_readable(int fd, base::Deadline deadline);
bool wait_until_writable(int fd, base::Deadline deadline);

// Bytes sent that the peer's kernel has not acknowledged yet.
int unacknowledged_bytes(int fd);

// Bytes received that nobody has read yet.
int unread_bytes(int fd);

// Whether a kept connection that is owed nothing is still good: not closed by its peer, nothing
// unasked for waiting.
bool is_quiet_and_open(int fd);

}  // namespace net
