#include "wire/line_buffer.h"

#include <string.h>

#include <variant>

#include "wire/reply.h"

namespace wire {

FirstLine first_line(std::string_view bytes) {
  using State = FirstLine::State;
  const std::size_t lf = bytes.substr(0, kMaxLineBytes).find('\n');
  if (lf == std::string_view::npos)
    return {bytes.size() < kMaxLineBytes ? State::kNeedMore : State::kTooLong};
  std::string_view line = bytes.substr(0, lf);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return {State::kLine, line, lf + 1};
}

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
  const FirstLine first = first_line(pending());
  line = first.line;
  begin_ += first.size_bytes;
  return first.state;
}

LineBuffer::Next LineBuffer::next_reply(std::string_view& line, std::string_view& content) {
  wipe_last_line();
  const FirstLine first = first_line(pending());
  if (first.state != Next::kLine) return first.state;
  const std::size_t size = content_bytes(first);
  if (size > kMaxContentBytes) return Next::kTooLong;
  if (pending().size() < first.size_bytes + size) return Next::kNeedMore;
  line = first.line;
  content = pending().substr(first.size_bytes, size);
  begin_ += first.size_bytes + size;
  return Next::kLine;
}

bool LineBuffer::has_next_reply() const {
  const FirstLine first = first_line(pending());
  if (first.state != Next::kLine) return first.state == Next::kTooLong;
  const std::size_t size = content_bytes(first);
  return size > kMaxContentBytes || pending().size() >= first.size_bytes + size;
}

std::size_t LineBuffer::content_bytes(const FirstLine& first) {
  if (!first.line.starts_with("OK ")) return 0;
  const Reply reply = parse_reply(first.line);
  const auto* const sized = std::get_if<OkSized>(&reply);
  return sized == nullptr ? 0 : static_cast<std::size_t>(sized->size_bytes);
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
