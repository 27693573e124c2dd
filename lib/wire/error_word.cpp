#include "wire/error_word.h"

#include <string>

#include "wire/line_buffer.h"

namespace wire {

using base::ErrorCode;

std::string_view text_of(ErrorCode code) {
  static const std::string too_long =
      "a line has at most " + std::to_string(kMaxLineBytes) + " bytes";
  switch (code) {
    case ErrorCode::kSyntax: return "not a request";
    case ErrorCode::kTooLong: return too_long;
    case ErrorCode::kInvalid: return "user name or password not acceptable";
    case ErrorCode::kDenied: return "wrong user or password";
    case ErrorCode::kExists: return "user name taken";
    case ErrorCode::kNotFound: return "no such file";
    case ErrorCode::kUnavailable: return "authentication is not available now, try again";
    case ErrorCode::kBusy: return "too many connections";
    case ErrorCode::kInternal: return "internal error";
  }
  return "internal error";
}

bool closes_connection(ErrorCode code) {
  switch (code) {
    case ErrorCode::kTooLong:
    case ErrorCode::kBusy:
    case ErrorCode::kInternal: return true;
    case ErrorCode::kSyntax:
    case ErrorCode::kInvalid:
    case ErrorCode::kDenied:
    case ErrorCode::kExists:
    case ErrorCode::kNotFound:
    case ErrorCode::kUnavailable: return false;
  }
  return true;
}

}  // namespace wire
