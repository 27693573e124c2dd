// The conversation with one peer: receives lines, and sends the replies in the same order.
//
// Any failure of the peer ends the conversation. After that next_line() returns nothing and replies
// are dropped, so the caller does not have to check them.
//
// Threads: one, except for `is_draining`.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "net/fd.h"
#include "net/ip_address.h"
#include "net/socket_io.h"
#include "telemetry/counters.h"
#include "wire/error_word.h"
#include "wire/line_buffer.h"
#include "wire/reply.h"

namespace serve {

// How far the reply of the last begin_sized_reply() has come.
struct SizedReply {
  std::uint64_t size_bytes = 0;
  std::uint64_t sent_bytes = 0;  // of its body, that the kernel has taken
  bool is_whole = false;         // the kernel has taken all of it; the peer may not have

  // On the clock of base::now_ns(). Only set with Connection::keep_times(), and once a byte of the
  // reply was sent. The first byte goes out when the call that sends it begins, the last one when
  // its call returns. The times of an empty body are those of its header.
  std::int64_t first_byte_ns = 0;
  std::int64_t last_byte_ns = 0;
};

class Connection {
 public:
  // Requires: `fd` was accepted from a listener whose time slice is io_slice_ms(idle_timeout_ms),
  // and `peer` is the address that accept() reported.
  //
  // Another thread or a signal handler may set `is_draining` and then shut down the reading side of
  // the socket. After that the conversation ends when the request under way has been answered.
  //
  // A peer has to take `min_rate` bytes per second of a reply, on average over the idle time-out.
  Connection(net::Fd fd, const net::IpAddress& peer, std::int64_t idle_timeout_ms,
             const std::atomic<bool>& is_draining, std::int64_t min_rate = 0);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Waits for the next line. Returns it without its line ending; it is valid until the next call.
  // Returns nothing once the conversation is over: the peer has finished, was idle for too long, or
  // sent a line that is too long. Such a line has been answered.
  std::optional<std::string_view> next_line();

  // Takes one line more, without waiting, if it has been received already and `wanted` returns true
  // for it. The line is then a request like any other. It and the lines before it, back to the one
  // that next_line() returned, are valid until next_line() is called again. Returns whether it took
  // the line.
  template <typename Wanted>
  bool take_line_at_hand(Wanted wanted) {
    if (is_over_ || !lines_.take_too(wanted)) return false;
    ++requests_;
    return true;
  }

  // Requires: exactly one reply for each line. A reply is queued. next_line() sends the queued
  // replies when it has no further line to return. Call flush() before anything that may take long,
  // such as asking another server.
  void reply_ok() {
    outcome_.reset();
    queue(wire::kOkLine);
  }
  void reply_error(base::ErrorCode code) { reply_error(code, wire::text_of(code)); }
  void reply_error(base::ErrorCode code, std::string_view text);
  void flush() { send({}); }

  // Replies "OK <size>" and the bytes. Sends them at once. A range of a file is sent without
  // copying it.
  void reply_with(std::span<const char> bytes);
  void reply_with(const net::FilePart& part);

  // The same in pieces: begin_sized_reply() once, then send() until `size_bytes` have been sent.
  // send() returns false once the conversation is over.
  void begin_sized_reply(std::uint64_t size_bytes);
  bool send(std::span<const char> bytes);
  const SizedReply& sized_reply() const { return sized_reply_; }

  // From now on sized_reply() has times. This costs two looks at the clock for each system call.
  void keep_times() { keeps_times_ = true; }

  // Ends the conversation in the middle of a reply. The peer sees that the connection ends early.
  void abort() { is_over_ = true; }

  // The error code of the last reply. Nothing if it was OK.
  telemetry::Outcome outcome() const { return outcome_; }

  int fd() const { return fd_.get(); }

  // Who is at the other end. Its text is only made when a log line needs it.
  const net::IpAddress& peer() const { return peer_; }

  std::uint64_t requests() const { return requests_; }

 private:
  void queue(std::string_view line);
  template <typename SendSome>
  bool send_body(std::size_t size_bytes, SendSome send_some);
  void note_sent(std::size_t body_bytes, std::int64_t began_ns);
  bool receive_more(base::Deadline& deadline);
  bool reply_moves();
  bool reply_still_moves() { return reply_moves() && unacknowledged_ > 0; }
  void restart_reply_time();
  void stop_here();
  void end_gently();

  net::Fd fd_;
  const net::IpAddress peer_;
  const std::int64_t idle_timeout_ms_;
  const std::atomic<bool>& is_draining_;
  const std::int64_t enough_;  // the bytes of a reply that the peer must take per idle time-out

  bool is_over_ = false;
  base::Deadline reply_deadline_ = base::Deadline::never();  // until then it must take enough_
  std::int64_t taken_ = 0;                                   // what it has taken of that
  bool keeps_times_ = false;
  SizedReply sized_reply_;
  std::int64_t unacknowledged_ = 0;  // bytes sent and not acknowledged at the last look
  std::uint64_t requests_ = 0;
  telemetry::Outcome outcome_;
  std::size_t queued_size_ = 0;
  std::array<char, 256> queued_;  // [0, queued_size_) waits to be sent
  wire::LineBuffer lines_;
};

}  // namespace serve
