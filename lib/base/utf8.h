// UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace base {

// Whether the text is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

// The text with U+FFFD for each byte that is not part of well-formed UTF-8.
std::string as_utf8(std::string_view text);

}  // namespace base
