#include "serve/line_conversation.h"

#include "base/completes.h"
#include "base/waits.h"

namespace serve {

std::optional<std::string_view> LineConversation::next_line() {
  auto deadline = stream_.request_deadline();
  while (!stream_.is_over()) {
    if (stream_.is_draining()) {
      flush();
      stream_.end_for_drain();
      break;
    }
    std::string_view line;
    switch (lines_.next(line)) {
      case wire::LineBuffer::Next::kLine:
        stream_.count_request();
        if (stream_.is_over()) return {};
        base::has_worked(1);
        return line;
      case wire::LineBuffer::Next::kTooLong:
        reply_error(base::ErrorCode::kTooLong);
        telemetry::count_request(telemetry::Verb::kOther, outcome_);
        break;
      case wire::LineBuffer::Next::kNeedMore:
        flush();
        stream_.waits_for_request();
        if (!receive_line(deadline)) {
          if (stream_.is_resting()) return {};
          stream_.abort();
        }
        break;
    }
  }
  return {};
}

void LineConversation::reply_error(base::ErrorCode code, std::string_view text) {
  outcome_ = code;
  queue(wire::error_line(code, text));
  if (!wire::closes_connection(code)) return;
  flush();
  stream_.end_gently();
}

void LineConversation::end_with(base::ErrorCode outcome, std::string_view text) {
  outcome_ = outcome;
  flush();
  stream_.send(text);
  stream_.end_gently();
}

std::span<const char> LineConversation::begin_sized_reply(std::uint64_t size_bytes) {
  outcome_.reset();
  queue(wire::ok_sized_line(size_bytes));
  stream_.begin_sized_reply(size_bytes);
  return take_queued();
}

void LineConversation::queue(std::string_view line) {
  if (line.size() > queued_.size() - queued_size_) flush();
  queued_size_ += line.copy(queued_.data() + queued_size_, queued_.size() - queued_size_);
}

// Waits for a complete line until the deadline.
bool LineConversation::receive_line(base::Deadline& deadline) {
  for (;;) {
    const std::size_t received = lines_.is_empty()
                                     ? stream_.receive_first(lines_.free_space(), deadline)
                                     : stream_.receive(lines_.free_space(), deadline);
    if (received == 0) return false;
    lines_.received(received);
    if (lines_.has_next()) return true;
    if (deadline.has_passed()) return false;
  }
}

void LineWorker::serve(Stream& stream) {
  LineConversation connection(stream);
  if (base::completes("a connection failed", [&] { converse(connection); })) return;
  connection.reply_error(base::ErrorCode::kInternal);
  telemetry::count_request(telemetry::Verb::kOther, base::ErrorCode::kInternal);
}

}  // namespace serve
