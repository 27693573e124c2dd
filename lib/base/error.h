// What an error is inside our programs. How a peer is told: wire/error_word.h.
#pragma once

#include <string>
#include <string_view>

namespace base {

// One to one with the table in docs/protocol.md. The values count up from 0.
enum class ErrorCode {
  kSyntax,
  kTooLong,
  kInvalid,
  kDenied,
  kExists,
  kNotFound,
  kUnavailable,
  kBusy,
  kInternal,
};

// What went wrong. The context is for our log: what was tried and why it failed, never a password.
struct Error {
  ErrorCode code;
  std::string context;
};

// "open files/a.bin: Permission denied", from the errno of the call that has just failed.
Error errno_error(ErrorCode code, std::string_view what_was_tried, int errno_value);

}  // namespace base
