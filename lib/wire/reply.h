// The replies: "OK", "OK <size>", "ERR <code> <text>". Printing and parsing only.
#pragma once

#include <cstdint>
#include <optional>
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
struct NotAReply {};  // the peer does not speak the protocol

using Reply = std::variant<Ok, OkSized, Err, NotAReply>;

// The line without its line ending.
Reply parse_reply(std::string_view line);

inline constexpr std::string_view kOkLine = "OK\n";

// With its LF.
std::string ok_sized_line(std::uint64_t size_bytes);
std::string error_line(base::ErrorCode code, std::string_view text);

}  // namespace wire
