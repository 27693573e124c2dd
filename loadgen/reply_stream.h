// What a server sends on one connection, as replies and the bytes of files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "loadgen/cause.h"
#include "loadgen/download.h"
#include "loadgen/reference.h"
#include "wire/reply.h"

namespace loadgen {

// A reply, or why there is none.
struct Answer {
  std::optional<Cause> failure;  // that the server answered, or that kept it from doing so
  wire::Reply reply = wire::NotAReply{};
  std::int64_t first_byte_ns = 0;  // when its first byte was here
};

// One thread. Everything is received into one buffer that never grows, and small replies with one
// system call.
//
// No request takes longer than its time-out and a sixteenth: a receiving call may sleep for the
// socket's own time-out, and once a request has taken a sixteenth of it, every call is preceded by
// a wait for what is left.
class ReplyStream {
 public:
  explicit ReplyStream(std::int64_t timeout_ms);

  // A new connection, whose socket's own time-out is `timeout_ms`. Borrows `fd`.
  void begin_connection(int fd);

  // From here on time and bytes are counted for one request.
  void begin_request();

  Answer read_reply();

  // The bytes of a file behind its reply; compared with `reference` and kept in `download`, where
  // they are not null.
  std::optional<Cause> read_file(std::uint64_t size_bytes, Reference* reference,
                                 Download* download);

  // Whether bytes have come that nobody has asked for.
  bool has_more() const { return begin_ != end_; }

  // Of the request: what the kernel handed out in all, less what was reply lines.
  std::uint64_t file_bytes() const { return received_bytes_ - line_bytes_; }

  // Why the last Fault::kClosed: the server's orderly end, or the error of the connection.
  std::string why_closed() const;

  // When the last bytes were here.
  std::int64_t last_byte_ns() const { return last_byte_ns_; }

 private:
  std::string_view pending() const { return {buffer_.get() + begin_, end_ - begin_}; }
  std::optional<Cause> receive_more();

  const std::int64_t timeout_ms_;
  const std::unique_ptr<char[]> buffer_;
  int fd_ = -1;
  int closed_errno_ = 0;  // of the last Fault::kClosed; 0: the stream ended
  base::Deadline deadline_ = base::Deadline::never();
  base::Deadline unhurried_ =
      base::Deadline::never();  // until then the socket's own time-out will do
  std::size_t begin_ = 0;       // [begin_, end_) has come and is not used yet
  std::size_t end_ = 0;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t line_bytes_ = 0;
  std::int64_t last_byte_ns_ = 0;
};

}  // namespace loadgen
