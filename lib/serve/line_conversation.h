// The conversation of lines with one peer: receives lines, and sends the replies in the same order.
//
// Once the stream is over, next_line() returns nothing and replies are dropped.
//
// Threads: one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "serve/options.h"
#include "serve/stream.h"
#include "telemetry/counters.h"
#include "wire/error_word.h"
#include "wire/line_buffer.h"
#include "wire/reply.h"

namespace serve {

class LineConversation {
 public:
  // The stream must outlive the conversation.
  explicit LineConversation(Stream& stream) : stream_(stream) {}

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
    if (stream_.is_over() || !lines_.take_too(wanted)) return false;
    stream_.count_request();
    return true;
  }

  // Requires: exactly one reply for each line. A reply is queued. next_line() sends the queued
  // replies when it has no further line to return. Call flush() before anything that may take long,
  // such as asking another server.
  void reply_ok() {
    outcome_.reset();
    queue(wire::kOkLine);
  }
  // "OK <size>" and the content, of at most 128 bytes.
  void reply_content(std::string_view content) {
    outcome_.reset();
    queue(wire::ok_sized_line(content.size()));
    queue(content);
  }
  void reply_error(base::ErrorCode code) { reply_error(code, wire::text_of(code)); }
  void reply_error(base::ErrorCode code, std::string_view text);
  void flush() { stream_.send(take_queued()); }

  // Sends `text` as it is in place of a reply, and ends the conversation: for a peer that speaks
  // another protocol. It counts as `outcome`.
  void end_with(base::ErrorCode outcome, std::string_view text);

  // Begins the reply "OK <size>" with a body, which the caller sends on the stream. Returns what
  // has to be sent in front of the body: the queued replies and this line. It is valid until the
  // next reply.
  std::span<const char> begin_sized_reply(std::uint64_t size_bytes);

  // The error code of the last reply. Nothing if it was OK.
  telemetry::Outcome outcome() const { return outcome_; }

  Stream& stream() { return stream_; }
  const net::IpAddress& peer() const { return stream_.peer(); }

 private:
  void queue(std::string_view line);
  std::span<const char> take_queued() { return {queued_.data(), std::exchange(queued_size_, 0)}; }
  bool receive_line(base::Deadline& deadline);

  Stream& stream_;
  telemetry::Outcome outcome_;
  std::size_t queued_size_ = 0;
  std::array<char, 192> queued_;  // [0, queued_size_) waits to be sent
  wire::LineBuffer lines_;
};

// A worker whose clients speak in lines.
class LineWorker : public Worker {
 public:
  // If converse() throws, logs the reason and answers `internal`, behind the replies that wait.
  void serve(Stream& stream) final;

 private:
  // Returns when the conversation is over.
  virtual void converse(LineConversation& connection) = 0;
};

}  // namespace serve
