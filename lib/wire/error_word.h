// How the errors look on the wire: docs/protocol.md, "Error codes".
#pragma once

#include <array>
#include <string_view>

#include "base/error.h"

namespace wire {

// The code on the wire, such as "not-found". Empty for a value that is not an enumerator.
constexpr std::string_view word_of(base::ErrorCode code) {
  using base::ErrorCode;
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
  return {};
}

// How many error codes there are. The compiler demands a word for each, so none is forgotten.
consteval std::size_t count_error_codes() {
  std::size_t count = 0;
  while (!word_of(static_cast<base::ErrorCode>(count)).empty()) ++count;
  return count;
}

// All error codes, in the order of the enumeration: kErrorCodes[i] has the value i.
inline constexpr auto kErrorCodes = [] {
  std::array<base::ErrorCode, count_error_codes()> codes{};
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<base::ErrorCode>(i);
  return codes;
}();

// The default text of an ERR reply: one short sentence for people.
std::string_view text_of(base::ErrorCode code);

// Whether the server closes the connection after this reply.
bool closes_connection(base::ErrorCode code);

}  // namespace wire
