// Small questions about text that several formats ask.
#pragma once

#include <algorithm>
#include <string_view>

namespace base {

// An ASCII digit, whatever the locale.
constexpr bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// An ASCII control byte.
constexpr bool is_control(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value < 0x20 || value == 0x7f;
}

constexpr bool has_control(std::string_view text) {
  // Given by its name alone, it would be called through a pointer for each byte.
  return std::ranges::any_of(text, [](char byte) { return is_control(byte); });
}

// The text without blanks around it. It points into `text`.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks = " \t") {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace base
