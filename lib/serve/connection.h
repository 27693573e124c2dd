// One peer's conversation: lines in, replies out, in order, within the limits.
//
// One thread, save for what is said of `is_draining`. Whatever goes wrong with the peer ends the
// conversation: next_line() then returns nothing, and replies go nowhere; nobody has to check them.
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
#include "wire/error_word.h"
#include "wire/line_buffer.h"
#include "wire/reply.h"

namespace serve {

class Connection {
 public:
  // `fd` comes from a listener whose time slice is io_slice_ms(idle_timeout_ms). Once another
  // thread or a signal handler has set `is_draining` and shut down the reading side of the socket,
  // the conversation ends with the request under way.
  Connection(net::Fd fd, std::int64_t idle_timeout_ms, const std::atomic<bool>& is_draining);

  // The next request, without its line ending; valid until the next call. Nothing when the
  // conversation is over: the peer is done, was idle for too long, or sent a line that is too long,
  // which has been answered.
  std::optional<std::string_view> next_line();

  // Exactly one reply for each line. A reply is queued, and sent together with the replies to the
  // lines that have already been received: by next_line() at the latest. Call flush() before
  // anything that may take long, such as asking another server.
  void reply_ok() { queue(wire::kOkLine); }
  void reply_error(base::ErrorCode code) { reply_error(code, wire::text_of(code)); }
  void reply_error(base::ErrorCode code, std::string_view text);
  void flush() { send({}); }

  // Replies "OK <size>" and the bytes. Sends them at once.
  void reply_with(std::span<const char> bytes);

  // The same in pieces: begin_sized_reply() once, then send() until `size_bytes` have been sent.
  // send() returns false once the conversation is over.
  void begin_sized_reply(std::uint64_t size_bytes);
  bool send(std::span<const char> bytes);

  // Cuts the reply under way short: the peer sees the connection end.
  void abort() { is_over_ = true; }

  int fd() const { return fd_.get(); }
  std::uint64_t requests() const { return requests_; }

 private:
  void queue(std::string_view line);
  bool receive_more(base::Deadline& deadline);
  std::int64_t newly_acknowledged();
  bool reply_still_moves();
  void stop_here();
  void end_gently();

  net::Fd fd_;
  const std::int64_t idle_timeout_ms_;
  const std::atomic<bool>& is_draining_;

  bool is_over_ = false;
  std::int64_t unacknowledged_ = 0;  // sent, and not taken by the peer when we last looked
  std::uint64_t requests_ = 0;
  std::size_t queued_size_ = 0;
  std::array<char, 256> queued_;  // [0, queued_size_) waits to be sent
  wire::LineBuffer lines_;
};

}  // namespace serve
