// Receives what the server sends on a connection: replies, and the bytes of files.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "loadgen/clients/download.h"
#include "loadgen/clients/reference.h"
#include "loadgen/figures/cause.h"
#include "loadgen/figures/thread_series.h"
#include "tls/socket.h"

namespace loadgen {

// A reply and a small file are received with one call. Of a larger file, no more than this is
// received before the rest can be thrown away.
inline constexpr std::size_t kReplyBytes = 16 * 1024;

// What is read is received into one buffer that never grows. A small reply takes one system call.
// The bytes of a large file that nobody looks at are not even copied out of the kernel.
//
// A request takes at most its time-out and a sixteenth more. During the first sixteenth, the
// time-out of the socket limits each receiving call. After that, each call is preceded by a wait
// for the time that is left.
//
// Threads: one.
class ReplyStream {
 public:
  // `series`, unless that is null, is told which bytes of files move. It must outlive the stream.
  explicit ReplyStream(std::int64_t timeout_ms, ThreadSeries* series = nullptr);

  // Starts with a new connection. Borrows `fd`, and `encrypted`, which has it, unless that is null.
  // Requires: `timeout_ms` is the time-out of the socket.
  void begin_connection(int fd, tls::Socket* encrypted = nullptr);

  // Starts a request: its time and its bytes count from here.
  void begin_request();

  // Gives the request its whole time again.
  void begin_time();

  // What has been received and not been taken yet. Valid until the next call that receives.
  std::string_view pending() const { return {buffer_.get() + begin_, end_ - begin_}; }
  bool has_more() const { return begin_ != end_; }

  // Takes the first `count` bytes of pending(), which belong to no file. Returns when the first
  // byte of pending() arrived.
  std::int64_t take(std::size_t count);

  // Waits for more bytes of a reply and adds them to pending(). Returns why that failed, or
  // nothing. Requires: pending() has at most 64 KiB.
  std::optional<Cause> receive_more();

  // Each of these reads the bytes of a file, which follow its reply, and returns why that failed,
  // or nothing. read_file() compares them with `reference` and saves them in `download`, unless
  // these are null. skip_file() only counts them; bytes behind the file that came with its last
  // ones are Fault::kProtocol.
  std::optional<Cause> skip_file(std::uint64_t size_bytes);
  std::optional<Cause> read_file(std::uint64_t size_bytes, Reference* reference,
                                 Download* download);

  // Read or skip a file that ends with its connection. Bytes behind `at_most_bytes` are
  // Fault::kProtocol. UINT64_MAX: the size of the file is not known.
  std::optional<Cause> skip_to_end(std::uint64_t at_most_bytes);
  std::optional<Cause> read_to_end(std::uint64_t at_most_bytes, Reference* reference,
                                   Download* download);

  // The same as skip_file(), for bytes that belong to no file.
  std::optional<Cause> skip_other(std::uint64_t size_bytes);

  // The bytes that were received for this request, without those of take() and skip_other().
  std::uint64_t file_bytes() const { return received_bytes_ - taken_bytes_; }

  // When the request must be over.
  base::Deadline deadline() const { return deadline_; }

  // When the first bytes of this request arrived; 0 if none did.
  std::int64_t first_received_ns() const { return first_received_ns_; }

  // Says why the last Fault::kClosed happened: an orderly end by the server, or an error.
  std::string why_closed() const;

  // When the last bytes arrived.
  std::int64_t last_byte_ns() const { return last_byte_ns_; }

 private:
  std::optional<Cause> skip(std::uint64_t size_bytes, ThreadSeries* series);
  std::optional<Cause> end_of(std::optional<Cause> failure) const;
  std::optional<Cause> wait_if_late();
  ssize_t receive_into(std::span<char> into, bool is_wanted);
  std::optional<Cause> note_received(ssize_t got);
  std::optional<Cause> receive(std::size_t at_most_bytes);

  const std::int64_t timeout_ms_;
  ThreadSeries* const series_;
  const std::unique_ptr<char[]> buffer_;
  int fd_ = -1;
  tls::Socket* encrypted_ = nullptr;  // null: in clear
  int closed_errno_ = 0;              // of the last Fault::kClosed; 0: the stream ended
  base::Deadline deadline_ = base::Deadline::never();
  base::Deadline unhurried_ =
      base::Deadline::never();  // until then the time-out of the socket is enough
  std::size_t begin_ = 0;       // [begin_, end_) was received and is not read yet
  std::size_t end_ = 0;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t taken_bytes_ = 0;
  std::int64_t first_byte_ns_ = 0;  // of pending(); 0 if nothing has come
  std::int64_t first_received_ns_ = 0;
  std::int64_t last_byte_ns_ = 0;
};

}  // namespace loadgen
