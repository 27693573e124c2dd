#include "serve/http_conversation.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "base/waits.h"
#include "telemetry/counters.h"

namespace serve {

namespace {

// A body that is read comes in pieces of this size, at most.
constexpr std::size_t kBodyBufferBytes = 64 * 1024;

// What a body has to bring in each idle time-out, at least.
constexpr std::int64_t kLeastBodyBytes = 4096;

// Room for the longest head and the empty line before it, and one byte that shows that it is too
// long.
constexpr std::size_t kHeadBufferBytes = http::kMaxHeadBytes + 3;

std::string last_answer(http::Status status, std::string_view body) {
  std::array<char, 300> buffer;
  http::AnswerHead head(buffer, status);
  head.field("Date", http::date_text(std::time(nullptr)).view());
  if (status == 503) head.field("Retry-After", "1");
  head.field("Content-Type", "text/plain; charset=utf-8")
      .field("Content-Length", body.size())
      .field("Connection", "close");
  return std::string(head.finish()) + std::string(body);
}

}  // namespace

const http::RequestHead* HttpConversation::next_request() {
  end_last_request();
  head_deadline_ = stream_.request_deadline();
  while (!stream_.is_over()) {
    if (stream_.is_draining()) {
      stream_.end_for_drain();
      break;
    }
    switch (parser_.parse(buffer_.pending())) {
      case http::HeadParser::State::kComplete:
        has_head_ = true;
        body_ = parser_.head().body();
        stream_.count_request();
        if (stream_.is_over()) return nullptr;
        base::has_worked(1);
        return &parser_.head();
      case http::HeadParser::State::kRefused: refuse(parser_.status()); break;
      case http::HeadParser::State::kNeedMore:
        stream_.waits_for_request();
        if (!receive_head()) {
          if (stream_.is_resting()) return nullptr;
          stream_.abort();
        }
        break;
    }
  }
  return nullptr;
}

void HttpConversation::end_last_request() {
  if (closes_) end();
  buffer_.consume(std::exchange(piece_bytes_, 0));
  if (std::exchange(has_head_, false)) buffer_.consume(parser_.size_bytes());
  buffer_.shrink();
  parser_ = {};
  chunks_ = {};
  has_time_of_head_ = false;
  has_begun_answer_ = false;
}

// A peer that sends on, as it does not know yet that the connection ends, would not get the answer
// if the connection was closed at once.
void HttpConversation::end() {
  const bool has_head_only = has_head_ && buffer_.pending().size() == parser_.size_bytes();
  const bool has_more = !has_head_only && buffer_.pending().size() > piece_bytes_;
  if (!stream_.is_over() && (has_more || has_unread_body() || stream_.has_unread_bytes()))
    stream_.end_gently();
  stream_.abort();
}

bool HttpConversation::has_unread_body() const {
  switch (body_.kind) {
    case http::Body::Kind::kNone: return false;
    case http::Body::Kind::kSized: return body_.size_bytes > 0;
    case http::Body::Kind::kChunked: return chunks_.state() != http::ChunkDecoder::State::kComplete;
  }
  return false;
}

std::optional<std::string_view> HttpConversation::next_body_piece() {
  if (has_head_) begin_body();
  buffer_.consume(std::exchange(piece_bytes_, 0));
  while (has_unread_body()) {
    std::string_view rest = buffer_.pending();
    std::string_view piece;
    if (body_.kind == http::Body::Kind::kSized) {
      piece = rest.substr(0, body_.size_bytes);
      rest.remove_prefix(piece.size());
      body_.size_bytes -= piece.size();
    } else if (chunks_.state() == http::ChunkDecoder::State::kRefused) {
      broken_status_ = chunks_.status();
      return {};
    } else if (!rest.empty()) {
      piece = chunks_.take(rest);
    }
    const std::size_t used = buffer_.pending().size() - rest.size();
    if (!piece.empty()) {
      piece_bytes_ = used;
      count_piece(piece.size());
      return piece;
    }
    buffer_.consume(used);
    if (used > 0) continue;
    if (!(has_time_of_head_ ? receive_body(head_deadline_) : receive_at_rate())) return {};
  }
  return std::string_view();
}

void HttpConversation::begin_body() {
  has_head_ = false;
  const bool is_awaited =
      parser_.head().expects_continue() && buffer_.pending().size() == parser_.size_bytes();
  buffer_.consume(parser_.size_bytes());
  if (!has_unread_body()) return;
  if (is_awaited) stream_.send(http::kContinue);
  buffer_.reserve(kBodyBufferBytes);
  waited_ns_ = 0;
  came_bytes_ = 0;
}

void HttpConversation::count_piece(std::size_t bytes) {
  came_bytes_ += bytes;
  const auto enough = std::max(kLeastBodyBytes, stream_.least_bytes_per_idle_time());
  if (came_bytes_ < static_cast<std::size_t>(enough)) return;
  waited_ns_ = 0;
  came_bytes_ = 0;
}

bool HttpConversation::receive_head() {
  if (head_deadline_.has_passed()) return false;
  const auto room = buffer_.free_space(kHeadBufferBytes);
  const std::size_t received = buffer_.is_empty() ? stream_.receive_first(room, head_deadline_)
                                                  : stream_.receive(room, head_deadline_);
  buffer_.received(received);
  return received > 0;
}

bool HttpConversation::receive_body(base::Deadline& deadline) {
  if (deadline.has_passed()) {
    stream_.abort();
    return false;
  }
  const std::size_t received = stream_.receive_rest(buffer_.free_space(kBodyBufferBytes), deadline);
  buffer_.received(received);
  return received > 0;
}

bool HttpConversation::receive_at_rate() {
  auto deadline = stream_.idle_deadline();
  if (!deadline.is_never()) deadline = deadline.earlier_by_ms(waited_ns_ / base::kNsPerMs);
  const std::int64_t began_ns = base::now_ns();
  const bool has_received = receive_body(deadline);
  waited_ns_ += base::now_ns() - began_ns;
  return has_received;
}

http::AnswerHead HttpConversation::begin_answer(std::span<char> buffer, http::Status status) {
  const http::RequestHead& request = parser_.head();
  has_begun_answer_ = true;
  stream_.request_came();
  closes_ = is_last_ || status.closes_connection() || !request.keeps_connection() ||
            has_unread_body() || stream_.is_draining();
  if (closes_) stream_.close_behind_reply();
  if (const std::int64_t now = now_s(); now != date_s_) {
    date_s_ = now;
    date_ = http::date_text(now);
  }
  http::AnswerHead head(buffer, status);
  head.field("Date", date_.view());
  if (stream_.is_encrypted()) head.field("Strict-Transport-Security", "max-age=31536000");
  if (closes_) {
    head.field("Connection", "close");
  } else if (request.is_1_0()) {
    head.field("Connection", "keep-alive");
  }
  return head;
}

std::int64_t HttpConversation::now_s() { return std::time(nullptr); }

// What the request was is not known, but its parts that were understood say how to answer it.
void HttpConversation::refuse(http::Status status) {
  std::array<char, 300> buffer;
  const std::string body = std::string(status.reason()) + "\n";
  const std::string_view head = begin_answer(buffer, status)
                                    .field("Content-Type", "text/plain; charset=utf-8")
                                    .field("Content-Length", body.size())
                                    .finish();
  stream_.send(head, body);
  telemetry::count_request(telemetry::Verb::kOther, status.outcome());
  stream_.end_gently();
}

std::string busy_answer() { return last_answer(503, "too many connections, try again\n"); }

std::string tls_only_answer() {
  return last_answer(400, "This port speaks TLS. Use an address with https://...\n");
}

}  // namespace serve
