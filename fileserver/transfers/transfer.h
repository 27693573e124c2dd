// A client's request for a file, or for a change of the served folder, and what came of it: one
// line of the transfer log.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "http/range.h"
#include "net/ip_address.h"
#include "serve/stream.h"

namespace fileserver {

// What a client changes. kNone: it asks for the file.
enum class Change : std::uint8_t { kNone, kPut, kDelete, kMkcol, kMove, kCopy, kLock, kUnlock };

// Plain data. `name`, `to`, `user` and `link` point into the request, or into the queue that the
// transfer waits in.
struct Transfer {
  std::string_view name = {};  // any bytes, as the client sent them
  net::IpAddress client = {};
  std::int64_t asked_ns = 0;                  // when the request was taken up, as base::now_ns()
  std::optional<base::ErrorCode> error = {};  // the reply, if it was not the file
  serve::SizedReply reply = {};               // how far the file was sent; of a put, received
  std::uint64_t size_bytes = 0;               // of the file
  Change change = Change::kNone;
  std::string_view to = {};  // of kMove and kCopy, the other name; empty: it is not known

  // For a log with users. The user was validated; or, where that was refused, it is the name that
  // was tried. Empty: nobody is known. `method` is a text that lives for ever: the method of HTTP,
  // or a native verb; empty if a file was asked for natively.
  std::string_view user = {};
  std::string_view link = {};  // by which a guest of the user asked; empty: by none
  std::string_view method = {};
  std::uint16_t status = 0;  // of HTTP
  bool has_name = true;      // false: the request names no file

  std::uint8_t range_count = 0;
  std::array<http::ByteRange, http::kMaxParts> ranges = {};  // of the file; by 206

  // Requires: not more than kMaxParts.
  void set_ranges(std::span<const http::ByteRange> parts) {
    range_count = static_cast<std::uint8_t>(parts.size());
    std::ranges::copy(parts, ranges.begin());
  }
};

}  // namespace fileserver
