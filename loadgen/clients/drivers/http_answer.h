// Parses the head of an HTTP answer, as far as loadgen needs it. No sockets, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace loadgen {

// The head of one answer, line by line as the bytes come. It is strict: lines end in CRLF, the
// status line is that of HTTP/1.0 or 1.1, a field's name is a token with a colon behind it, nothing
// is folded, and Content-Length is there once, in digits.
//
// One thread.
class HttpAnswer {
 public:
  // The longest head, from the version to the last CRLF.
  static constexpr std::size_t kMaxHeadBytes = 64 * 1024;

  enum class State {
    kNeedMore,   // the head is not complete
    kComplete,   // all of the members below count
    kMalformed,  // it can never become a head
  };

  // `received` is all that has come of the answer. It begins with the bytes of the last call, each
  // of which is looked at once. Requires: the last call returned kNeedMore.
  State read(std::string_view received);

  std::size_t head_bytes() const { return read_bytes_; }
  int status() const { return status_; }
  std::size_t status_line_bytes() const { return status_line_bytes_; }  // without its CRLF

  // Nothing if the head does not announce the length of the body.
  std::optional<std::uint64_t> content_length() const { return content_length_; }

  // The strong entity tag, with its quotes; empty if there is none.
  const std::string& etag() const { return etag_; }

  // What Content-Range says, if it names bytes.
  struct Range {
    std::uint64_t first;
    std::uint64_t last;
    std::uint64_t size_bytes;  // of the whole file
    bool operator==(const Range&) const = default;
  };
  const std::optional<Range>& range() const { return range_; }

  // Whether the body is sent in chunks, or in another way that is not understood.
  bool is_encoded() const { return is_encoded_; }

  // Whether the server will take another request on the connection. HTTP/1.0 must say so, and
  // HTTP/1.1 may say the contrary.
  bool keeps_connection() const { return !says_close_ && (is_version_11_ || says_keep_alive_); }

 private:
  bool read_line(std::string_view line);
  bool read_status_line(std::string_view line);
  bool read_field(std::string_view line);
  bool read_content_length(std::string_view value);
  bool read_range(std::string_view value);
  void read_connection(std::string_view value);

  std::size_t read_bytes_ = 0;      // of complete lines
  std::size_t searched_bytes_ = 0;  // there is no LF in [read_bytes_, searched_bytes_)
  std::size_t status_line_bytes_ = 0;
  int status_ = 0;
  std::optional<std::uint64_t> content_length_;
  std::string etag_;
  std::optional<Range> range_;
  bool is_version_11_ = false;
  bool is_encoded_ = false;
  bool says_close_ = false;
  bool says_keep_alive_ = false;
};

}  // namespace loadgen
