// Cuts a stream of bytes into the lines of the protocol. No sockets, no clock.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace wire {

// The longest line, with its line ending.
inline constexpr std::size_t kMaxLineBytes = 512;

// The first line in the bytes that have been received so far.
struct FirstLine {
  enum class State {
    kLine,      // `line` is complete
    kNeedMore,  // the LF has not been received yet
    kTooLong,   // no LF within kMaxLineBytes: the rest of the stream cannot be understood
  };
  State state;
  std::string_view line = {};  // without its line ending; points into the bytes
  std::size_t size_bytes = 0;  // with its line ending
};
FirstLine first_line(std::string_view bytes);

// Collects received bytes and returns the complete lines in order:
//
//   while (buffer.next(line) == LineBuffer::Next::kNeedMore)
//     buffer.received(read into buffer.free_space());
//
// Lines may contain passwords. So the bytes of a line are overwritten as soon as it is used, and
// all of them by the destructor. Threads: one.
class LineBuffer {
 public:
  using Next = FirstLine::State;

  LineBuffer() = default;
  ~LineBuffer();
  LineBuffer(const LineBuffer&) = delete;
  LineBuffer& operator=(const LineBuffer&) = delete;

  // Where the next received bytes go. Not empty if next() returned kNeedMore before.
  std::span<char> free_space();

  // Says that `count` bytes were written to the start of the last free_space().
  void received(std::size_t count) { end_ += count; }

  // Returns kLine and the next line, or why there is none. `line` is valid until the next call of
  // next() or free_space(), which overwrites its bytes. kTooLong is final.
  Next next(std::string_view& line);

  // The same for a peer whose lines are replies: behind "OK <size>" follow so many bytes, the
  // content, which it returns with the line. kTooLong also for a content of more than
  // kMaxContentBytes.
  static constexpr std::size_t kMaxContentBytes = 128;
  Next next_reply(std::string_view& line, std::string_view& content);

  // Takes the next line, if it is complete and `wanted` returns true for it. Unlike next(), it
  // leaves the lines valid that were returned since the last call of next(), which is the call that
  // overwrites them all. Returns whether it took the line.
  template <typename Wanted>
  bool take_too(Wanted wanted) {
    const FirstLine first = first_line(pending());
    if (first.state != Next::kLine || !wanted(first.line)) return false;
    begin_ += first.size_bytes;
    return true;
  }

  // Whether next() would return something other than kNeedMore.
  bool has_next() const;
  bool has_next_reply() const;

  // Whether every received byte has been part of a line that next() returned.
  bool is_empty() const { return begin_ == end_; }

 private:
  std::string_view pending() const { return {bytes_.data() + begin_, end_ - begin_}; }
  void wipe_last_line();
  static std::size_t content_bytes(const FirstLine& first);

  // Room for one unfinished line and a few complete ones.
  std::array<char, 3 * kMaxLineBytes> bytes_;
  std::size_t last_line_begin_ = 0;  // [last_line_begin_, begin_) was returned and is still valid
  std::size_t begin_ = 0;            // [begin_, end_) was not returned yet
  std::size_t end_ = 0;
};

}  // namespace wire
