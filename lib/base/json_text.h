// Text inside of JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace base {

// Which characters stand in it as they are. Both forms escape quotes, backslashes and the control
// codes below U+0020. kAscii also escapes U+007F and all that is not ASCII.
enum class JsonText : std::uint8_t { kUtf8, kAscii };

// The text as a string of JSON, with its quotes. Bytes that are not UTF-8 are U+FFFD, once for each
// malformed piece that utf8_front() finds.
std::string json_text(std::string_view text, JsonText form);

}  // namespace base
