// The replies "OK", "OK <size>" and "ERR <code> <text>": parsing and printing only, no sockets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"

namespace wire {

struct Ok {};
struct OkSized {
  std::uint64_t size_bytes;
};
struct Err {
  base::ErrorCode code;
};
struct NotAReply {};  // any other line: the peer does not speak the protocol

using Reply = std::variant<Ok, OkSized, Err, NotAReply>;

// Parses a line, which is given without its line ending.
Reply parse_reply(std::string_view line);

// The line of Ok, with its LF.
inline constexpr std::string_view kOkLine = "OK\n";

// The lines of the other replies, with their LF. `text` must not contain an LF.
std::string ok_sized_line(std::uint64_t size_bytes);
std::string error_line(base::ErrorCode code, std::string_view text);

}  // namespace wire
