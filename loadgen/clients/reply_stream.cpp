#include "loadgen/clients/reply_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "net/socket_io.h"

namespace loadgen {

namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;

// How many bytes are asked for of a file that ends with its connection: one more than it may have,
// so that a byte behind it is noticed. For a file of unknown size it is as good as no bound, and
// one more of it still fits into 64 bits.
std::uint64_t one_more_than(std::uint64_t at_most_bytes) {
  return std::min(at_most_bytes, UINT64_MAX - 2) + 1;
}

void tell(ThreadSeries* series, std::uint64_t moved_bytes) {
  if (series != nullptr && moved_bytes > 0) series->move(moved_bytes);
}

}  // namespace

// The buffer is not initialized, so memory is only used for the part that receives bytes. Threads
// that fetch small files stay small.
ReplyStream::ReplyStream(std::int64_t timeout_ms, ThreadSeries* series)
    : timeout_ms_(timeout_ms),
      series_(series),
      buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {}

void ReplyStream::begin_connection(int fd, tls::Socket* encrypted) {
  fd_ = fd;
  encrypted_ = encrypted;
  begin_ = end_ = 0;
}

void ReplyStream::begin_time() {
  deadline_ = base::Deadline::in_ms(timeout_ms_);
  unhurried_ = deadline_.earlier_by_ms(timeout_ms_ - timeout_ms_ / 16);
}

void ReplyStream::begin_request() {
  begin_time();
  received_bytes_ = taken_bytes_ = 0;
  first_byte_ns_ = first_received_ns_ = 0;
}

std::string ReplyStream::why_closed() const {
  if (closed_errno_ == 0) return "the server closed the connection";
  if (encrypted_ != nullptr && !encrypted_->failure().empty()) return encrypted_->failure();
  return std::generic_category().message(closed_errno_);
}

std::int64_t ReplyStream::take(std::size_t count) {
  begin_ += count;
  taken_bytes_ += count;
  return std::exchange(first_byte_ns_, has_more() ? last_byte_ns_ : 0);
}

std::optional<Cause> ReplyStream::receive_more() {
  if (const auto failure = receive(kReplyBytes)) return failure;
  if (first_byte_ns_ == 0) first_byte_ns_ = last_byte_ns_;
  return {};
}

std::optional<Cause> ReplyStream::read_file(std::uint64_t size_bytes, Reference* reference,
                                            Download* download) {
  for (std::uint64_t left = size_bytes; left > 0;) {
    if (!has_more()) {
      if (const auto failure = receive(kBufferBytes)) return failure;
    }
    const std::string_view piece = pending().substr(0, std::min<std::uint64_t>(left, kBufferBytes));
    if (reference != nullptr) reference->compare(piece);
    if (download != nullptr) download->keep(piece);
    begin_ += piece.size();
    left -= piece.size();
    tell(series_, piece.size());
  }
  return {};
}

std::optional<Cause> ReplyStream::skip_file(std::uint64_t size_bytes) {
  return skip(size_bytes, series_);
}

// Each call asks for one byte more than the file has left. So bytes that nobody asked for are
// noticed without a further call.
std::optional<Cause> ReplyStream::skip(std::uint64_t size_bytes, ThreadSeries* series) {
  const auto here = std::min<std::uint64_t>(size_bytes, end_ - begin_);
  begin_ += here;
  tell(series, here);
  for (std::uint64_t left = size_bytes - here; left > 0;) {
    if (const auto failure = wait_if_late()) return failure;
    const auto wanted = std::min<std::uint64_t>(left + 1, kBufferBytes);
    const ssize_t got = receive_into({buffer_.get(), wanted}, false);
    if (const auto failure = note_received(got)) return failure;
    tell(series, static_cast<std::uint64_t>(got));
    if (static_cast<std::uint64_t>(got) > left) return Fault::kProtocol;
    left -= static_cast<std::uint64_t>(got);
  }
  return {};
}

std::optional<Cause> ReplyStream::skip_to_end(std::uint64_t at_most_bytes) {
  return end_of(skip_file(one_more_than(at_most_bytes)));
}

std::optional<Cause> ReplyStream::read_to_end(std::uint64_t at_most_bytes, Reference* reference,
                                              Download* download) {
  return end_of(read_file(one_more_than(at_most_bytes), reference, download));
}

// Requires: more bytes were asked for than the file may have.
std::optional<Cause> ReplyStream::end_of(std::optional<Cause> failure) const {
  if (failure == Fault::kClosed && closed_errno_ == 0) return {};
  return failure ? failure : Fault::kProtocol;
}

std::optional<Cause> ReplyStream::skip_other(std::uint64_t size_bytes) {
  if (const auto failure = skip(size_bytes, nullptr)) return failure;
  taken_bytes_ += size_bytes;
  return {};
}

std::optional<Cause> ReplyStream::receive(std::size_t at_most_bytes) {
  if (begin_ == end_) begin_ = end_ = 0;
  // This only happens if the end of the buffer cuts a reply, which is rare.
  if (end_ == kBufferBytes) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (const auto failure = wait_if_late()) return failure;
  const std::size_t wanted = std::min(at_most_bytes, kBufferBytes - end_);
  const ssize_t got = receive_into({buffer_.get() + end_, wanted}, true);
  if (const auto failure = note_received(got)) return failure;
  end_ += static_cast<std::size_t>(got);
  return {};
}

ssize_t ReplyStream::receive_into(std::span<char> into, bool is_wanted) {
  if (encrypted_ != nullptr) return encrypted_->receive_by(into, deadline_);
  return is_wanted ? net::receive(fd_, into) : net::discard(fd_, into);
}

// While the request is not late, the time-out of the socket is enough. An encrypted connection
// keeps the deadline by itself, as it may have bytes of which the socket does not tell.
std::optional<Cause> ReplyStream::wait_if_late() {
  const bool must_watch_clock = encrypted_ == nullptr && unhurried_.has_passed();
  if (must_watch_clock && (deadline_.has_passed() || !net::wait_until_readable(fd_, deadline_))) {
    return Fault::kTimeout;
  }
  return {};
}

// Takes the result of a call that receives.
std::optional<Cause> ReplyStream::note_received(ssize_t got) {
  if (got < 0 && errno == EAGAIN) return Fault::kTimeout;
  if (got <= 0) {
    closed_errno_ = got < 0 ? errno : 0;
    return Fault::kClosed;
  }
  last_byte_ns_ = base::now_ns();
  if (first_received_ns_ == 0) first_received_ns_ = last_byte_ns_;
  received_bytes_ += static_cast<std::uint64_t>(got);
  return {};
}

}  // namespace loadgen
