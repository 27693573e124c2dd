// The conversation of HTTP/1.1 with one peer: receives requests, and sends the answers in the same
// order. Which answer a request gets is the business of a session above it.
//
// Once the stream is over, next_request() returns nothing and answers are dropped.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/answer.h"
#include "http/chunks.h"
#include "http/date.h"
#include "http/input_buffer.h"
#include "http/request_head.h"
#include "serve/stream.h"

namespace serve {

class HttpConversation {
 public:
  // The stream must outlive the conversation.
  explicit HttpConversation(Stream& stream) : stream_(stream) {}

  // Waits for the head of the next request. It is valid until the body is read, or the next call.
  // Null once the conversation is over: the peer has finished, was idle for too long, or the last
  // answer closed the connection. A request that is malformed is answered here, and is the last.
  const http::RequestHead* next_request();

  // The next piece of the request's body. It is valid until the next call. Empty once the body is
  // complete; nothing if it is malformed, or the peer is gone or too slow. The first call ends the
  // life of the head, and sends "100 Continue" if the peer waits for that.
  //
  // A peer has to bring 4 KiB in each idle time-out, or what the least rate of the stream asks for.
  // Only bytes of the body count, and only the time in which they are waited for.
  std::optional<std::string_view> next_body_piece();

  // The body of this request has to come in the time that is left for the head, as a part of it.
  void limit_body_to_time_of_head() {
    has_time_of_head_ = true;
    stream_.request_goes_on();
  }

  // 400 or 431, after next_body_piece() returned nothing.
  http::Status status_of_broken_body() const { return broken_status_; }

  // Begins the head of the answer: its first line, Date, and whether the connection goes on. It
  // does not after a status that closes it (http/status.h), while the server drains, if the peer
  // wants that, or if bytes of the body were not read. Exactly one answer for each request.
  // `buffer` must outlive the head.
  http::AnswerHead begin_answer(std::span<char> buffer, http::Status status);
  bool has_begun_answer() const { return has_begun_answer_; }

  // The answer that begins next ends the connection.
  void end_behind_answer() { is_last_ = true; }

  // Sends a head and a short body.
  void send(std::string_view head, std::string_view body = {}) { stream_.send(head, body); }

  // The whole seconds since 1970 at the start of this answer, or at the call.
  std::int64_t now_s();

  Stream& stream() { return stream_; }

 private:
  bool has_unread_body() const;
  void end_last_request();
  void end();
  void begin_body();
  bool receive_head();
  bool receive_body(base::Deadline& deadline);
  bool receive_at_rate();
  void count_piece(std::size_t bytes);
  void refuse(http::Status status);

  Stream& stream_;
  http::HeadParser parser_;
  bool has_head_ = false;  // its bytes are the first ones in the buffer
  bool has_begun_answer_ = false;
  bool is_last_ = false;       // the session says so
  bool closes_ = false;        // behind the answer that was begun
  http::Body body_;            // what is left of it, if it has a size
  http::ChunkDecoder chunks_;  // otherwise
  base::Deadline head_deadline_ = base::Deadline::never();
  bool has_time_of_head_ = false;  // for the body
  std::int64_t waited_ns_ = 0;     // for the next bytes of the body that are enough for a while
  std::size_t came_bytes_ = 0;     // of these
  std::size_t piece_bytes_ = 0;    // what the last piece takes at the start of the buffer
  http::Status broken_status_ = 400;
  std::int64_t date_s_ = -1;  // of date_
  http::DateText date_{};
  http::InputBuffer buffer_;
};

// The answer to a connection over --max-connections.
std::string busy_answer();

// The answer to a request that came without TLS to a port that speaks nothing else.
std::string tls_only_answer();

}  // namespace serve
