// Cuts a stream of bytes into the protocol's lines. No sockets, no clock.
//
// One thread. Received bytes go into free_space(); next() hands the complete lines out, in order.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace wire {

// CR and LF included.
inline constexpr std::size_t kMaxLineBytes = 512;

class LineBuffer {
 public:
  enum class Next {
    kLine,      // `line` is the next line, without its line ending
    kNeedMore,  // no complete line yet
    kTooLong,   // kMaxLineBytes have come without an LF: final, the stream cannot be followed any
                // more
  };

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

  // Whether next() would answer something other than kNeedMore.
  bool has_next() const;

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
