// An answer whose body is printed while it is sent, so that no body is in memory as a whole.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fileserver/http/exchange.h"

namespace fileserver {

inline constexpr std::size_t kTextPieceBytes = 32 * 1024;  // of such a body

// Takes a piece of a text. False: no further piece is wanted.
using TakePiece = std::function<bool(std::string_view piece)>;

struct StreamedText {
  std::string_view type;
  bool is_1_0;  // of the request, whose head may be gone

  // Begins the head, with the fields that only this answer has.
  std::function<http::AnswerHead()> begin;

  // Prints the whole text. Calls take() for each piece but the last one, which is left in `last`. A
  // take() that returns false ends it. The text may be printed twice.
  std::function<base::Status(std::string& last, const TakePiece& take)> print;
};

// Sends the answer; to HEAD without the text. A text of up to kTextPieceBytes has its size in the
// head. A longer one comes in chunks, and is sent while it is made. HTTP/1.0 knows no chunks. There
// it is made twice, the first time to count its bytes. An error before the first piece is the
// answer. A text that cannot be sent to its end ends the connection, so that the client sees that
// it was cut.
void send_streamed(Exchange& exchange, const StreamedText& text);

}  // namespace fileserver
