#include "base/error.h"

#include <system_error>

namespace base {

std::string_view word_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kSyntax: return "syntax";
    case ErrorCode::kTooLong: return "too-long";
    case ErrorCode::kInvalid: return "invalid";
    case ErrorCode::kDenied: return "denied";
    case ErrorCode::kExists: return "exists";
    case ErrorCode::kNotFound: return "not-found";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kBusy: return "busy";
    case ErrorCode::kInternal: return "internal";
  }
  return "internal";
}

std::string_view text_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kSyntax: return "not a request";
    case ErrorCode::kTooLong: return "a line has at most 512 bytes";
    case ErrorCode::kInvalid: return "user name or password not acceptable";
    case ErrorCode::kDenied: return "wrong user or password";
    case ErrorCode::kExists: return "user name taken";
    case ErrorCode::kNotFound: return "no such file";
    case ErrorCode::kUnavailable: return "cannot be asked now, try again";
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

Error errno_error(ErrorCode code, std::string_view what_was_tried, int errno_value) {
  std::string context(what_was_tried);
  context += ": ";
  context += std::generic_category().message(errno_value);
  return {code, std::move(context)};
}

}  // namespace base
