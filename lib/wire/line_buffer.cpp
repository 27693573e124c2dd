#include "wire/line_buffer.h"

#include <string.h>

namespace wire {

LineBuffer::~LineBuffer() {
  ::explicit_bzero(bytes_.data() + last_line_begin_, end_ - last_line_begin_);
}

std::span<char> LineBuffer::free_space() {
  wipe_last_line();
  if (begin_ == end_) {
    last_line_begin_ = begin_ = end_ = 0;
  } else if (begin_ > 0 && bytes_.size() - begin_ < kMaxLineBytes) {
    const std::size_t old_end = end_;
    ::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    last_line_begin_ = begin_ = 0;
    ::explicit_bzero(bytes_.data() + end_, old_end - end_);
  }
  return {bytes_.data() + end_, bytes_.size() - end_};
}

LineBuffer::Next LineBuffer::next(std::string_view& line) {
  wipe_last_line();
  const std::string_view waiting = pending();
  const std::size_t lf = waiting.substr(0, kMaxLineBytes).find('\n');
  if (lf == std::string_view::npos)
    return waiting.size() < kMaxLineBytes ? Next::kNeedMore : Next::kTooLong;
  line = waiting.substr(0, lf);
  if (line.ends_with('\r')) line.remove_suffix(1);
  begin_ += lf + 1;
  return Next::kLine;
}

bool LineBuffer::has_next() const {
  const std::string_view waiting = pending();
  return waiting.size() >= kMaxLineBytes || waiting.find('\n') != std::string_view::npos;
}

void LineBuffer::wipe_last_line() {
  ::explicit_bzero(bytes_.data() + last_line_begin_, begin_ - last_line_begin_);
  last_line_begin_ = begin_;
}

}  // namespace wire
