#include "serve/stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <exception>
#include <limits>
#include <tuple>
#include <utility>

#include "base/completes.h"
#include "base/waits.h"
#include "serve/encrypted.h"
#include "serve/http_conversation.h"
#include "serve/long_send.h"
#include "serve/options.h"
#include "telemetry/counters.h"

namespace serve {

namespace {

// At least one byte. The result is bounded, so that no rate and no time-out overflow.
std::int64_t bytes_in(std::int64_t per_second, std::int64_t time_ms) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
  const double bytes = static_cast<double>(per_second) * static_cast<double>(time_ms) / 1000;
  return bytes < static_cast<double>(kMost) ? std::max<std::int64_t>(1, std::llround(bytes))
                                            : kMost;
}

bool is_timeout(int errno_value) { return errno_value == EAGAIN || errno_value == EWOULDBLOCK; }

// Whoever waits in a handler might go on in that of another session (base/completes.h).
bool is_in_handler() { return std::current_exception() != nullptr; }

// A piece of 64 KiB is as much work as a small request.
int units_of(ssize_t sent_bytes) {
  return 1 + static_cast<int>(std::max<ssize_t>(sent_bytes, 0) / (64 * 1024));
}

iovec part_of(std::span<const char> bytes) {
  return {const_cast<char*>(bytes.data()), bytes.size()};
}

}  // namespace

Stream::Stream(net::Fd fd, const net::IpAddress& peer, std::int64_t idle_timeout_ms,
               const std::atomic<bool>& is_draining, std::int64_t min_rate,
               const Encryption* encryption)
    : fd_(std::move(fd)),
      peer_(peer),
      idle_timeout_ms_(idle_timeout_ms),
      is_draining_(is_draining),
      enough_(bytes_in(min_rate, idle_timeout_ms)) {
  if (encryption == nullptr) return;
  std::ignore = base::completes("cannot serve a connection", [&] {
    encrypted_ = Encrypted::begin(*encryption, fd_.get(), peer_, idle_timeout_ms);
  });
  is_over_ = encrypted_ == nullptr;
}

Stream::~Stream() {
  say_goodbye();
  if (sized_reply_.sent_bytes < sized_reply_.size_bytes)
    telemetry::add(telemetry::Count::kTransfersAborted);
}

base::Deadline Stream::idle_deadline() const {
  return idle_timeout_ms_ == 0 ? base::Deadline::never() : base::Deadline::in_ms(idle_timeout_ms_);
}

std::size_t Stream::receive(std::span<char> into, base::Deadline& deadline) {
  assert(!is_in_handler());
  const auto slice_ms = io_slice_ms(idle_timeout_ms_);
  if (encrypted_) encrypted_->bound(deadline);
  while (!is_over_) {
    // A peer that sends slowly must not get a whole slice if less than that is left. Without an
    // idle time-out there are no slices, and a handshake ends nevertheless.
    const bool is_late = !deadline.is_never() && (slice_ms == 0 || deadline.left_ms() < slice_ms);
    if (is_late && !encrypted_ && !waits_until(deadline)) continue;
    const ssize_t received = receive_some(into, deadline, !is_late || !encrypted_);
    if (received > 0) return note_received(received, into.size());
    if (received == 0 || !is_timeout(errno)) {
      is_over_ = true;
    } else if (is_late && encrypted_) {  // the socket does not tell of what was taken from it
      waits_until(deadline);
    } else if (reply_still_moves()) {
      deadline = idle_deadline();
    }
  }
  return 0;
}

// Returns false if the peer is late. Unless it still takes a reply, the stream is over then.
bool Stream::waits_until(base::Deadline& deadline) {
  if (net::wait_until_readable(fd(), deadline)) return true;
  is_over_ = !reply_still_moves();
  if (!is_over_) deadline = idle_deadline();
  return false;
}

// A call that has not filled its room has taken all that was there, unless it has ended at an
// urgent byte.
std::size_t Stream::note_received(ssize_t received, std::size_t room) {
  if (may_give_way()) place_->bytes_came();
  telemetry::add(telemetry::Count::kReceivedBytes, static_cast<std::uint64_t>(received));
  if (encrypted_) {
    may_have_more_ = may_have_more_ || has_mark_ || channel()->may_have_more();
  } else {
    may_have_more_ = has_mark_ || static_cast<std::size_t>(received) == room;
  }
  base::has_worked(1);
  return static_cast<std::size_t>(received);
}

std::size_t Stream::receive_first(std::span<char> into, base::Deadline& deadline) {
  assert(!is_in_handler());
  if (!can_rest_) return receive(into, deadline);
  if (is_over_) return 0;
  if (encrypted_) encrypted_->bound(deadline);
  while (may_have_more_ || has_end_come_) {
    may_have_more_ = false;  // unless an event comes while another thread computes a handshake
    const ssize_t received = receive_some(into, deadline, false);
    if (received > 0) return note_received(received, into.size());
    is_over_ = received == 0 || !is_timeout(errno);
    if (is_over_) return 0;
    has_mark_ = false;
    if (!may_have_more_) break;
  }
  rest_deadline_ = deadline;
  has_rested_ = is_resting_ = true;
  look_later();
  return 0;
}

ssize_t Stream::receive_some(std::span<char> into, base::Deadline& deadline, bool may_wait) {
  if (!encrypted_) return may_wait ? net::receive(fd(), into) : net::receive_now(fd(), into);
  const ssize_t received =
      encrypted_->receive(into, may_wait, deadline, [this] { return idle_deadline(); });
  if (received >= 0 || !channel()->is_plain()) return received;
  refuse_plain();
  errno = EPROTO;
  return -1;
}

void Stream::refuse_plain() {
  net::send_now(fd(), tls_only_answer());
  end_gently();
}

tls::Channel* Stream::channel() const { return encrypted_ ? &encrypted_->channel() : nullptr; }

bool Stream::has_unread_bytes() const {
  return net::unread_bytes(fd()) > 0 || (encrypted_ && channel()->has_pending());
}

bool Stream::has_peer_finished() {
  if (encrypted_ && channel()->has_peer_finished()) return true;
  return net::has_peer_finished(fd()) && !(encrypted_ && channel()->has_pending());
}

void Stream::begin_unsized_reply(bool only_close_ends_it) {
  is_cut_ = true;
  resets_ = only_close_ends_it;
  if (resets_) net::reset_at_close(fd(), true);
}

void Stream::end_unsized_reply() {
  is_cut_ = false;
  if (std::exchange(resets_, false)) net::reset_at_close(fd(), false);
}

// The size of a reply whose size is not known is the largest number.
void Stream::say_goodbye() {
  const bool is_part = sized_reply_.sent_bytes < sized_reply_.size_bytes &&
                       sized_reply_.size_bytes != std::numeric_limits<std::uint64_t>::max();
  if (encrypted_ && !is_cut_ && !is_part) channel()->say_goodbye();
}

base::Deadline Stream::request_deadline() {
  return std::exchange(has_rested_, false) ? rest_deadline_ : idle_deadline();
}

bool Stream::goes_on_resting() {
  if (reply_still_moves()) rest_deadline_ = idle_deadline();
  if (rest_deadline_.has_passed()) return false;
  look_later();
  return true;
}

// As often as a thread looks that waits for the next request, while a reply is on its way.
void Stream::look_later() {
  next_check_ = rest_deadline_;
  if (unacknowledged_ == 0 || rest_deadline_.is_never()) return;
  const auto soon = base::Deadline::in_ms(io_slice_ms(idle_timeout_ms_));
  if (soon.at_ns() < next_check_.at_ns()) next_check_ = soon;
}

// The server has shut down the reading side of the socket. The kernel goes on receiving, but nobody
// is woken by what comes.
std::size_t Stream::receive_rest(std::span<char> into, base::Deadline& deadline) {
  constexpr int kLookAgainMs = 5;
  std::size_t received = receive(into, deadline);
  while (received == 0 && may_still_receive(deadline)) {
    base::pause_ms(kLookAgainMs);
    is_over_ = false;
    received = receive(into, deadline);
  }
  return received;
}

bool Stream::may_still_receive(const base::Deadline& deadline) const {
  return is_draining() && !deadline.has_passed() && net::is_established(fd());
}

void Stream::begin_sized_reply(std::uint64_t size_bytes) {
  if (enough_ > 1) restart_reply_time();
  sized_reply_ = {.size_bytes = size_bytes};
}

// One system call if the socket takes them all.
bool Stream::send(std::span<const char> head, std::span<const char> body) {
  const bool is_last = closes_behind_reply_ && !body.empty() &&
                       sized_reply_.sent_bytes + body.size() == sized_reply_.size_bytes;
  return send_body(head, body.size(), [&](std::span<const char> head_left, std::size_t sent) {
    if (auto* const encrypted = channel()) return encrypted->send(head_left, body.subspan(sent));
    iovec parts[] = {part_of(head_left), part_of(body.subspan(sent))};
    return is_last ? net::send_last_parts(fd(), parts) : net::send_parts(fd(), parts);
  });
}

bool Stream::send(std::span<const char> head, const net::FilePart& body) {
  // A call of sendfile() goes on as long as the peer takes something now and then. If it has to
  // take more than that, it is looked at after as much as one wait can send.
  constexpr std::size_t kOneWaitBytes = 64 * 1024;
  constexpr std::size_t kFirstBytes = 128 * 1024;  // with the head, where they are encrypted
  LongSend long_send;
  return send_body(head, body.size_bytes, [&](std::span<const char> head_left, std::size_t sent) {
    auto* const encrypted = channel();
    if (encrypted != nullptr && !head_left.empty()) {
      const net::FilePart first{body.fd, body.offset, std::min(body.size_bytes, kFirstBytes)};
      return encrypted->send(head_left, first);
    }
    const ssize_t of_head = head_left.empty() ? 0 : net::send_first(fd(), head_left);
    if (of_head < static_cast<ssize_t>(head_left.size())) return of_head;
    const std::size_t left = body.size_bytes - sent;
    const net::FilePart part{body.fd, body.offset + static_cast<std::int64_t>(sent),
                             enough_ == 1 ? left : std::min(left, kOneWaitBytes)};
    const ssize_t of_file = long_send.send(fd(), encrypted, part);
    return of_head > 0 ? of_head + std::max<ssize_t>(of_file, 0) : of_file;
  });
}

// `send_some` gets what is left of the head, and how much of the body was sent. It sends some more,
// and returns how much. The peer may be slow, but has to take enough bytes within each idle
// time-out. A peer that has taken all bytes is never late: then the reply itself comes slowly, from
// a disk for example.
template <typename SendSome>
bool Stream::send_body(std::span<const char> head, std::size_t body_bytes, SendSome send_some) {
  assert(!is_in_handler());
  if (head.empty() && body_bytes == 0) return !is_over_;
  if (body_bytes == 0 || enough_ == 1) restart_reply_time();
  std::size_t body_sent = 0;
  while (!is_over_ && (!head.empty() || body_sent < body_bytes)) {
    const std::int64_t began_ns = keeps_times_ ? base::now_ns() : 0;
    const ssize_t sent = send_some(head, body_sent);
    if (sent == 0 || (sent < 0 && !is_timeout(errno))) is_over_ = true;
    if (sent > 0) {
      const auto of_head = std::min(head.size(), static_cast<std::size_t>(sent));
      head = head.subspan(of_head);
      body_sent += static_cast<std::size_t>(sent) - of_head;
      telemetry::add(telemetry::Count::kSentBytes, static_cast<std::uint64_t>(sent));
      if (!encrypted_) unacknowledged_ += sent;
      note_sent(static_cast<std::size_t>(sent) - of_head, began_ns);
    }
    if (encrypted_) unacknowledged_ += channel()->take_raw_sent();
    base::has_worked(units_of(sent));
    if (head.empty() && body_sent == body_bytes) break;
    if (reply_moves() || unacknowledged_ == 0) {
      restart_reply_time();
    } else if (reply_deadline_.has_passed()) {
      is_over_ = true;
    }
  }
  if (is_over_) is_cut_ = true;
  sized_reply_.is_whole = !is_over_ && sized_reply_.sent_bytes == sized_reply_.size_bytes;
  return !is_over_;
}

void Stream::note_sent(std::size_t body_bytes, std::int64_t began_ns) {
  sized_reply_.sent_bytes += body_bytes;
  if (!keeps_times_) return;
  if (sized_reply_.first_byte_ns == 0) sized_reply_.first_byte_ns = began_ns;
  sized_reply_.last_byte_ns = base::now_ns();
}

void Stream::restart_reply_time() {
  reply_deadline_ = idle_deadline();
  taken_ = 0;
}

// Returns whether the peer's kernel has acknowledged enough bytes since this was true last, or
// since the time was restarted. Whether the peer's program has read them cannot be known.
bool Stream::reply_moves() {
  const std::int64_t now = net::unacknowledged_bytes(fd());
  taken_ += std::exchange(unacknowledged_, now) - now;
  if (taken_ < enough_) return false;
  taken_ = 0;
  return true;
}

// If the peer has sent bytes that are not read any more, closing would reset the connection and
// could lose replies.
void Stream::end_for_drain() {
  if (!is_over_ && (has_unread_bytes() || net::unacknowledged_bytes(fd()) > 0)) end_gently();
  is_over_ = true;
}

// Closing a socket with unread bytes resets the connection, and replies on their way to the peer
// are lost. So this reads and discards until the peer has finished.
void Stream::end_gently() {
  constexpr int kAtMostMs = 1000;
  constexpr int kLookAgainMs = 5;
  assert(!is_in_handler());
  is_over_ = true;
  say_goodbye();
  if (::shutdown(fd(), SHUT_WR) != 0) return;
  const auto deadline = base::Deadline::in_ms(kAtMostMs);
  std::array<char, 4096> discarded;
  while (!deadline.has_passed()) {
    const ssize_t received = net::receive_now(fd(), discarded);
    const bool is_failed = received < 0 && !is_timeout(errno);
    base::has_worked(1);  // others may go on meanwhile, and change errno
    if (is_failed) return;
    if (received < 0) net::wait_until_readable(fd(), deadline);
    if (received == 0 && net::unacknowledged_bytes(fd()) == 0) return;
    if (received == 0) base::pause_ms(kLookAgainMs);
  }
}

}  // namespace serve
