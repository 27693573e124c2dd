#include "http/answer.h"

#include <array>
#include <charconv>

namespace http {

AnswerHead::AnswerHead(std::span<char> buffer, Status status) : buffer_(buffer) {
  put("HTTP/1.1 ");
  put(static_cast<std::uint64_t>(status.number()));
  put(" ");
  put(status.reason());
  put("\r\n");
}

AnswerHead& AnswerHead::field(std::string_view name, std::string_view value) {
  put(name);
  put(": ");
  put(value);
  put("\r\n");
  return *this;
}

AnswerHead& AnswerHead::field(std::string_view name, std::uint64_t value) {
  put(name);
  put(": ");
  put(value);
  put("\r\n");
  return *this;
}

AnswerHead& AnswerHead::content_range(const ByteRange& range, std::uint64_t size_bytes) {
  put("Content-Range: bytes ");
  put(range.begin);
  put("-");
  put(range.end - 1);
  put("/");
  put(size_bytes);
  put("\r\n");
  return *this;
}

AnswerHead& AnswerHead::content_range_unsatisfiable(std::uint64_t size_bytes) {
  put("Content-Range: bytes */");
  put(size_bytes);
  put("\r\n");
  return *this;
}

std::string_view AnswerHead::finish() {
  put("\r\n");
  return fits_ ? std::string_view(buffer_.data(), size_) : std::string_view();
}

void AnswerHead::put(std::string_view text) {
  fits_ = fits_ && text.size() <= buffer_.size() - size_;
  if (!fits_) return;
  text.copy(buffer_.data() + size_, text.size());
  size_ += text.size();
}

void AnswerHead::put(std::uint64_t number) {
  std::array<char, 20> digits;
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  put(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
}

}  // namespace http
