// The errors of the protocol, and what an error carries inside our programs.
#pragma once

#include <string>
#include <string_view>

namespace base {

// One to one with the table in docs/protocol.md.
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

inline constexpr ErrorCode kAllErrorCodes[] = {
    ErrorCode::kSyntax,      ErrorCode::kTooLong, ErrorCode::kInvalid,
    ErrorCode::kDenied,      ErrorCode::kExists,  ErrorCode::kNotFound,
    ErrorCode::kUnavailable, ErrorCode::kBusy,    ErrorCode::kInternal,
};

// The word on the wire, such as "not-found".
std::string_view word_of(ErrorCode code);

// What a peer is told when nobody has more to say: one short sentence for people.
std::string_view text_of(ErrorCode code);

// Whether the connection ends with this reply.
bool closes_connection(ErrorCode code);

// What went wrong. The context is for our log: what was tried and why it failed, never a password.
struct Error {
  ErrorCode code;
  std::string context;
};

// "open files/a.bin: Permission denied", from the errno of the call that has just failed.
Error errno_error(ErrorCode code, std::string_view what_was_tried, int errno_value);

}  // namespace base
