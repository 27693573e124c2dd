// Cuts a stream of bytes into the protocol's lines. No sockets, no clock.
//
// One thread. Received bytes go into free_space(); next() hands the complete lines out, in order.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace wire {

// The longest line, with its line ending.
inline constexpr std::size_t kMaxLineBytes = 512;

// The first line of the bytes that have come so far.
struct FirstLine {
  enum class State {
    kLine,      // `line` is complete
    kNeedMore,  // its LF has not come yet
    kTooLong,   // no LF within kMaxLineBytes; the stream cannot be read any further
  };
  State state;
  std::string_view line = {};  // without its line ending; points into the bytes
  std::size_t size_bytes = 0;  // with its line ending
};
FirstLine first_line(std::string_view bytes);

class LineBuffer {
 public:
  using Next = FirstLine::State;

  LineBuffer() = default;
  ~LineBuffer();
  LineBuffer(const LineBuffer&) = delete;
  LineBuffer& operator=(const LineBuffer&) = delete;

  // Never empty after next() has said kNeedMore.
  std::span<char> free_space();

  // `count` bytes were written to the start of the last free_space().
  void received(std::size_t count) { end_ += count; }

  // `line` is valid until the next call of anything here; its bytes are wiped then, as it may hold
  // a password.
  Next next(std::string_view& line);

  // Whether next() would return something other than kNeedMore.
  bool has_next() const;

  // Whether every received byte has been part of a line that next() returned.
  bool is_empty() const { return begin_ == end_; }

 private:
  std::string_view pending() const { return {bytes_.data() + begin_, end_ - begin_}; }
  void wipe_last_line();

  // Room for a line that is being collected and a few that are waiting.
  std::array<char, 4 * kMaxLineBytes> bytes_;
  std::size_t last_line_begin_ = 0;  // [last_line_begin_, begin_) was handed out last
  std::size_t begin_ = 0;            // [begin_, end_) is not handed out yet
  std::size_t end_ = 0;
};

}  // namespace wire
