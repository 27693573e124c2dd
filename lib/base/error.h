// Errors inside the programs. wire/error_word.h says how a peer is told of them.
#pragma once

#include <string>
#include <string_view>

namespace base {

// The errors of the protocol; docs/protocol.md says when each is answered. Functions also use them
// to tell their callers what kind of failure happened. The values count up from 0.
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

// A failure. `context` is for the log: it says what was tried and why it failed. It never contains
// a password, and a peer never sees it.
struct Error {
  ErrorCode code;
  std::string context;
};

// Returns an Error whose context is "WHAT_WAS_TRIED: REASON", such as "open files/a.bin: Permission
// denied". `errno_value` is the errno of the call that failed.
Error errno_error(ErrorCode code, std::string_view what_was_tried, int errno_value);

}  // namespace base
