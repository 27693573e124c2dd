// Prints the head of an answer into a fixed buffer. No allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "http/range.h"
#include "http/status.h"

namespace http {

// The line that asks for the body: "HTTP/1.1 100 Continue" and an empty line.
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

//   AnswerHead head(buffer, 200);
//   head.field("Content-Type", type.value).field("Content-Length", size);
//   send(head.finish());
class AnswerHead {
 public:
  // `buffer` must outlive this.
  AnswerHead(std::span<char> buffer, Status status);

  // Requires: no control bytes in `value`, which HeadParser refuses and encode_path() encodes.
  AnswerHead& field(std::string_view name, std::string_view value);
  AnswerHead& field(std::string_view name, std::uint64_t value);

  // "Content-Range: bytes 0-9/100", or "bytes */100" without a range.
  AnswerHead& content_range(const ByteRange& range, std::uint64_t size_bytes);
  AnswerHead& content_range_unsatisfiable(std::uint64_t size_bytes);

  // Ends the head. Empty if it did not fit into the buffer.
  std::string_view finish();

 private:
  void put(std::string_view text);
  void put(std::uint64_t number);

  std::span<char> buffer_;
  std::size_t size_ = 0;
  bool fits_ = true;
};

}  // namespace http
