#include "http/answer.h"

#include <array>
#include <charconv>

namespace http {

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 409: return "Conflict";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 416: return "Range Not Satisfiable";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    default: return {};
  }
}

AnswerHead::AnswerHead(std::span<char> buffer, int status) : buffer_(buffer) {
  put("HTTP/1.1 ");
  put(static_cast<std::uint64_t>(status));
  put(" ");
  put(reason_of(status));
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
