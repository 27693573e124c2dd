#include "serve/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <utility>

#include "serve/options.h"

namespace serve {

namespace {

base::Deadline idle_deadline(std::int64_t idle_timeout_ms) {
  return idle_timeout_ms == 0 ? base::Deadline::never() : base::Deadline::in_ms(idle_timeout_ms);
}

// At least one byte. The result is bounded, so that no rate and no time-out overflow.
std::int64_t bytes_in(std::int64_t per_second, std::int64_t time_ms) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
  const double bytes = static_cast<double>(per_second) * static_cast<double>(time_ms) / 1000;
  return bytes < static_cast<double>(kMost) ? std::max<std::int64_t>(1, std::llround(bytes))
                                            : kMost;
}

bool is_timeout(int errno_value) { return errno_value == EAGAIN || errno_value == EWOULDBLOCK; }

iovec part_of(std::span<const char> bytes) {
  return {const_cast<char*>(bytes.data()), bytes.size()};
}

}  // namespace

Connection::Connection(net::Fd fd, const net::IpAddress& peer, std::int64_t idle_timeout_ms,
                       const std::atomic<bool>& is_draining, std::int64_t min_rate)
    : fd_(std::move(fd)),
      peer_(peer),
      idle_timeout_ms_(idle_timeout_ms),
      is_draining_(is_draining),
      enough_(bytes_in(min_rate, idle_timeout_ms)) {}

Connection::~Connection() {
  if (sized_reply_.sent_bytes < sized_reply_.size_bytes)
    telemetry::add(telemetry::Count::kTransfersAborted);
}

std::optional<std::string_view> Connection::next_line() {
  auto deadline = idle_deadline(idle_timeout_ms_);
  while (!is_over_) {
    // The flag is set before the socket is shut down. If it is missed here, receive() returns at
    // once.
    if (is_draining_.load(std::memory_order_acquire)) {
      stop_here();
      break;
    }
    std::string_view line;
    switch (lines_.next(line)) {
      case wire::LineBuffer::Next::kLine: ++requests_; return line;
      case wire::LineBuffer::Next::kTooLong:
        reply_error(base::ErrorCode::kTooLong);
        telemetry::count_request(telemetry::Verb::kOther, outcome_);
        break;
      case wire::LineBuffer::Next::kNeedMore:
        flush();
        if (!is_over_ && !receive_more(deadline)) is_over_ = true;
        break;
    }
  }
  return {};
}

void Connection::reply_error(base::ErrorCode code, std::string_view text) {
  outcome_ = code;
  queue(wire::error_line(code, text));
  if (!wire::closes_connection(code)) return;
  flush();
  end_gently();
}

void Connection::reply_with(std::span<const char> bytes) {
  begin_sized_reply(bytes.size());
  send(bytes);
}

void Connection::begin_sized_reply(std::uint64_t size_bytes) {
  outcome_.reset();
  queue(wire::ok_sized_line(size_bytes));
  if (enough_ > 1) restart_reply_time();
  sized_reply_ = {.size_bytes = size_bytes};
}

void Connection::queue(std::string_view line) {
  if (line.size() > queued_.size() - queued_size_) flush();
  queued_size_ += line.copy(queued_.data() + queued_size_, queued_.size() - queued_size_);
}

// One system call if the socket takes them all.
bool Connection::send(std::span<const char> bytes) {
  return send_body(bytes.size(), [&](std::span<const char> replies, std::size_t sent) {
    iovec parts[] = {part_of(replies), part_of(bytes.subspan(sent))};
    return net::send_parts(fd(), parts);
  });
}

void Connection::reply_with(const net::FilePart& part) {
  // A call of sendfile() goes on as long as the peer takes something now and then. If it has to
  // take more than that, it is looked at after as much as one wait can send.
  constexpr std::size_t kOneWaitBytes = 64 * 1024;
  begin_sized_reply(part.size_bytes);
  send_body(part.size_bytes, [&](std::span<const char> replies, std::size_t sent) {
    const ssize_t of_replies = replies.empty() ? 0 : net::send_first(fd(), replies);
    if (of_replies < static_cast<ssize_t>(replies.size())) return of_replies;
    const std::size_t left = part.size_bytes - sent;
    const ssize_t of_file =
        net::send_file(fd(), {part.fd, part.offset + static_cast<std::int64_t>(sent),
                              enough_ == 1 ? left : std::min(left, kOneWaitBytes)});
    return of_replies > 0 ? of_replies + std::max<ssize_t>(of_file, 0) : of_file;
  });
}

// Sends the queued replies and then a body of this size. `send_some` gets the replies that are left
// and how much of the body was sent. It sends some more, and returns how much. The peer may be
// slow, but has to take enough bytes within each idle time-out. A peer that has taken all bytes is
// never late: then the reply itself comes slowly, from a disk for example.
template <typename SendSome>
bool Connection::send_body(std::size_t size_bytes, SendSome send_some) {
  std::span<const char> replies(queued_.data(), queued_size_);
  queued_size_ = 0;
  if (replies.empty() && size_bytes == 0) return !is_over_;
  if (size_bytes == 0 || enough_ == 1) restart_reply_time();
  std::size_t body_sent = 0;
  while (!is_over_ && (!replies.empty() || body_sent < size_bytes)) {
    const std::int64_t began_ns = keeps_times_ ? base::now_ns() : 0;
    const ssize_t sent = send_some(replies, body_sent);
    if (sent == 0 || (sent < 0 && !is_timeout(errno))) is_over_ = true;
    if (sent > 0) {
      const auto of_replies = std::min(replies.size(), static_cast<std::size_t>(sent));
      replies = replies.subspan(of_replies);
      body_sent += static_cast<std::size_t>(sent) - of_replies;
      telemetry::add(telemetry::Count::kSentBytes, static_cast<std::uint64_t>(sent));
      unacknowledged_ += sent;
      note_sent(static_cast<std::size_t>(sent) - of_replies, began_ns);
    }
    if (replies.empty() && body_sent == size_bytes) break;
    if (reply_moves() || unacknowledged_ == 0) {
      restart_reply_time();
    } else if (reply_deadline_.has_passed()) {
      is_over_ = true;
    }
  }
  sized_reply_.is_whole = !is_over_ && sized_reply_.sent_bytes == sized_reply_.size_bytes;
  return !is_over_;
}

void Connection::note_sent(std::size_t body_bytes, std::int64_t began_ns) {
  sized_reply_.sent_bytes += body_bytes;
  if (!keeps_times_) return;
  if (sized_reply_.first_byte_ns == 0) sized_reply_.first_byte_ns = began_ns;
  sized_reply_.last_byte_ns = base::now_ns();
}

// Waits for a complete line until the deadline. The deadline is extended while the peer still takes
// bytes of a reply.
bool Connection::receive_more(base::Deadline& deadline) {
  const auto slice_ms = io_slice_ms(idle_timeout_ms_);
  for (;;) {
    // A peer that sends slowly must not get a whole slice if less than that is left.
    if (!deadline.is_never() && deadline.left_ms() < slice_ms &&
        !net::wait_until_readable(fd(), deadline)) {
      if (!reply_still_moves()) return false;
      deadline = idle_deadline(idle_timeout_ms_);
      continue;
    }
    const ssize_t received = net::receive(fd(), lines_.free_space());
    if (received > 0) {
      lines_.received(static_cast<std::size_t>(received));
      if (lines_.has_next()) return true;
      if (deadline.has_passed()) return false;
    } else if (received == 0 || !is_timeout(errno)) {
      return false;
    } else if (reply_still_moves()) {
      deadline = idle_deadline(idle_timeout_ms_);
    }
  }
}

void Connection::restart_reply_time() {
  reply_deadline_ = idle_deadline(idle_timeout_ms_);
  taken_ = 0;
}

// Returns whether the peer's kernel has acknowledged enough bytes since this was true last, or
// since the time was restarted. Whether the peer's program has read them cannot be known.
bool Connection::reply_moves() {
  const std::int64_t now = net::unacknowledged_bytes(fd());
  taken_ += std::exchange(unacknowledged_, now) - now;
  if (taken_ < enough_) return false;
  taken_ = 0;
  return true;
}

// Ends the conversation while the server drains. If the peer has sent lines that are not read any
// more, closing would reset the connection and could lose replies. Then it is ended gently.
void Connection::stop_here() {
  flush();
  if (!is_over_ && (net::unread_bytes(fd()) > 0 || net::unacknowledged_bytes(fd()) > 0))
    end_gently();
  is_over_ = true;
}

// Ends the conversation so that the last reply arrives. Closing a socket with unread bytes resets
// the connection, and replies on their way to the peer are lost. So this reads and discards until
// the peer has finished, for a second at most.
void Connection::end_gently() {
  constexpr int kAtMostMs = 1000;
  constexpr int kLookAgainMs = 5;
  is_over_ = true;
  if (::shutdown(fd(), SHUT_WR) != 0) return;
  const auto deadline = base::Deadline::in_ms(kAtMostMs);
  std::array<char, 1024> discarded;
  while (!deadline.has_passed()) {
    const ssize_t received = net::receive_now(fd(), discarded);
    if (received < 0 && !is_timeout(errno)) return;
    if (received < 0) net::wait_until_readable(fd(), deadline);
    if (received == 0 && net::unacknowledged_bytes(fd()) == 0) return;
    if (received == 0) base::pause_ms(kLookAgainMs);
  }
}

}  // namespace serve
