// Small questions about text that several formats ask.
#pragma once

#include <string_view>

namespace base {

// An ASCII digit, whatever the locale.
constexpr bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// The text without blanks around it. It points into `text`.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t") {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace base
