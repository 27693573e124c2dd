// The statuses that answers of HTTP have, one row each. A status without a row does not compile.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace http {

// What happens to the connection behind an answer. It ends where the bytes behind such a request
// cannot be understood, or must not be.
enum class Behind : std::uint8_t { kGoesOn, kCloses };

struct StatusRow {
  std::uint16_t number;
  std::string_view reason;  // such as "Not Found"
  Behind behind = Behind::kGoesOn;
  std::optional<base::ErrorCode> outcome = {};  // what telemetry counts; nothing stands for OK
};

inline constexpr std::array kStatuses{
    StatusRow{200, "OK"},
    StatusRow{201, "Created"},
    StatusRow{204, "No Content"},
    StatusRow{206, "Partial Content"},
    StatusRow{207, "Multi-Status"},
    StatusRow{301, "Moved Permanently"},
    StatusRow{304, "Not Modified"},
    StatusRow{400, "Bad Request", Behind::kCloses, base::ErrorCode::kSyntax},
    StatusRow{401, "Unauthorized", Behind::kGoesOn, base::ErrorCode::kDenied},
    StatusRow{403, "Forbidden", Behind::kGoesOn, base::ErrorCode::kDenied},
    StatusRow{404, "Not Found", Behind::kGoesOn, base::ErrorCode::kNotFound},
    StatusRow{405, "Method Not Allowed", Behind::kGoesOn, base::ErrorCode::kSyntax},
    StatusRow{409, "Conflict", Behind::kGoesOn, base::ErrorCode::kExists},
    StatusRow{411, "Length Required", Behind::kCloses, base::ErrorCode::kSyntax},
    StatusRow{412, "Precondition Failed", Behind::kGoesOn, base::ErrorCode::kExists},
    StatusRow{413, "Content Too Large", Behind::kCloses, base::ErrorCode::kTooLong},
    StatusRow{414, "URI Too Long", Behind::kCloses, base::ErrorCode::kTooLong},
    StatusRow{415, "Unsupported Media Type", Behind::kGoesOn, base::ErrorCode::kInvalid},
    StatusRow{416, "Range Not Satisfiable"},
    StatusRow{417, "Expectation Failed", Behind::kCloses, base::ErrorCode::kSyntax},
    StatusRow{421, "Misdirected Request", Behind::kGoesOn, base::ErrorCode::kInvalid},
    StatusRow{422, "Unprocessable Content", Behind::kGoesOn, base::ErrorCode::kInvalid},
    StatusRow{423, "Locked", Behind::kGoesOn, base::ErrorCode::kExists},
    StatusRow{429, "Too Many Requests", Behind::kGoesOn, base::ErrorCode::kBusy},
    StatusRow{431, "Request Header Fields Too Large", Behind::kCloses, base::ErrorCode::kTooLong},
    StatusRow{460, "Checksum Mismatch", Behind::kGoesOn, base::ErrorCode::kInvalid},
    StatusRow{500, "Internal Server Error", Behind::kCloses, base::ErrorCode::kInternal},
    StatusRow{501, "Not Implemented", Behind::kGoesOn, base::ErrorCode::kSyntax},
    StatusRow{502, "Bad Gateway", Behind::kGoesOn, base::ErrorCode::kInvalid},
    StatusRow{503, "Service Unavailable", Behind::kGoesOn, base::ErrorCode::kUnavailable},
    StatusRow{505, "HTTP Version Not Supported", Behind::kCloses, base::ErrorCode::kSyntax},
    StatusRow{507, "Insufficient Storage", Behind::kGoesOn, base::ErrorCode::kInternal},
};

// One of the rows. It is made from its number where that is written in the source, as in
// `answer(404)`, and the compiler looks it up. Immutable.
class Status {
 public:
  // Requires: there is a row for `number`. Otherwise the call does not compile.
  consteval Status(int number)  // NOLINT(google-explicit-constructor): it reads as the number
      : row_(row_of(number)) {}

  constexpr int number() const { return row_->number; }
  constexpr std::string_view reason() const { return row_->reason; }
  constexpr bool closes_connection() const { return row_->behind == Behind::kCloses; }
  constexpr std::optional<base::ErrorCode> outcome() const { return row_->outcome; }

  friend constexpr bool operator==(Status a, Status b) { return a.row_ == b.row_; }

 private:
  static consteval const StatusRow* row_of(int number) {
    for (const StatusRow& row : kStatuses) {
      if (row.number == number) return &row;
    }
    throw "there is no row for this status";  // ends the compilation; nothing is ever thrown
  }

  const StatusRow* row_;
};

}  // namespace http
