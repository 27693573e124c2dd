#include "fileserver/http/streamed_text.h"

#include <fmt/core.h>

#include <cstdint>
#include <optional>

namespace fileserver {

namespace {

class StreamedAnswer {
 public:
  StreamedAnswer(Exchange& exchange, const StreamedText& text) : exchange_(exchange), text_(text) {}

  void send() {
    std::string last;
    const auto printed = text_.print(last, [this](std::string_view piece) { return take(piece); });
    if (has_failed_ || exchange_.stream().is_over()) return;
    if (!printed && !has_begun_) return exchange_.answer(printed.error());
    if (!printed) return exchange_.stream().abort();
    if (!has_begun_ && last.size() <= kTextPieceBytes) return send_whole(last);
    if (!has_begun_ && !send_head()) return;  // what ends the text made it longer
    if (is_body_wanted()) end(last);
  }

 private:
  bool is_body_wanted() const { return exchange_.method() != http::Method::kHead; }

  void send_whole(std::string_view text) {
    http::AnswerHead head = text_.begin();
    exchange_.send_text(head, text_.type, text);
  }

  bool take(std::string_view piece) {
    if (!has_begun_ && !send_head()) return false;
    return is_body_wanted() && send_piece(piece);
  }

  bool send_head() {
    if (text_.is_1_0) {
      const auto size = counted();
      if (!size) {
        has_failed_ = true;
        exchange_.answer(size.error());
        return false;
      }
      left_ = *size;
    }
    http::AnswerHead head = text_.begin();
    head.field("Content-Type", text_.type).field("X-Content-Type-Options", "nosniff");
    if (left_) {
      head.field("Content-Length", *left_);
    } else {
      head.field("Transfer-Encoding", "chunked");
    }
    has_begun_ = true;
    if (is_body_wanted()) exchange_.stream().begin_unsized_reply(false);
    return exchange_.stream().send(head.finish());
  }

  base::Result<std::uint64_t> counted() const {
    std::uint64_t size = 0;
    std::string last;
    const auto printed = text_.print(last, [&](std::string_view piece) {
      size += piece.size();
      return true;
    });
    if (!printed) return printed.error();
    return size + last.size();
  }

  bool send_piece(std::string_view piece) {
    serve::Stream& stream = exchange_.stream();
    if (!left_) {
      stream.send(fmt::format("{:x}\r\n", piece.size()), piece);
      return stream.send(std::string_view("\r\n"));
    }
    if (piece.size() > *left_) stream.abort();  // the text has changed since it was counted
    if (!stream.send({}, piece)) return false;
    *left_ -= piece.size();
    return true;
  }

  void end(std::string_view last) {
    if (!send_piece(last)) return;
    serve::Stream& stream = exchange_.stream();
    if (left_ && *left_ > 0) return stream.abort();
    if (left_ || stream.send(std::string_view("0\r\n\r\n"))) stream.end_unsized_reply();
  }

  Exchange& exchange_;
  const StreamedText& text_;
  bool has_begun_ = false;
  bool has_failed_ = false;            // it was answered with the error
  std::optional<std::uint64_t> left_;  // of the size in the head; nothing: it comes in chunks
};

}  // namespace

void send_streamed(Exchange& exchange, const StreamedText& text) {
  StreamedAnswer(exchange, text).send();
}

}  // namespace fileserver
