// The bytes and small texts that the grammar of HTTP is made of (RFC 9110, section 5.6).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace http {

using base::is_control;
using base::is_digit;
using base::trimmed;

constexpr char lower(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte | 0x20) : byte;
}

constexpr bool is_letter(char byte) { return lower(byte) >= 'a' && lower(byte) <= 'z'; }

// The value of a hexadecimal digit, or -1.
constexpr int hex_value(char byte) {
  if (is_digit(byte)) return byte - '0';
  const char letter = lower(byte);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

// The bytes of a name. Outside of its function, as it would be made again at each call in there.
inline constexpr auto kTokenBytes = [] {
  std::array<bool, 256> table{};
  for (const char mark : std::string_view("!#$%&'*+-.^_`|~"))
    table[static_cast<unsigned char>(mark)] = true;
  for (unsigned value = 0; value < 128; ++value)
    table[value] |= is_digit(static_cast<char>(value)) || is_letter(static_cast<char>(value));
  return table;
}();

// Whether a byte may stand in a name: methods, fields.
constexpr bool is_token_byte(char byte) { return kTokenBytes[static_cast<unsigned char>(byte)]; }

// Whether a byte may stand in the value of a field.
constexpr bool is_value_byte(char byte) { return !is_control(byte) || byte == '\t'; }

constexpr bool is_blank(char byte) { return byte == ' ' || byte == '\t'; }

// Whether two texts are equal but for the case of letters.
constexpr bool is_same(std::string_view left, std::string_view right) {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

// Takes the next element of a comma-separated list from its front, without blanks around it. A
// comma in a quoted string belongs to its element.
constexpr std::string_view take_element(std::string_view& list) {
  std::size_t comma = 0;
  for (bool is_quoted = false; comma < list.size(); ++comma) {
    if (list[comma] == ',' && !is_quoted) break;
    if (list[comma] == '"') is_quoted = !is_quoted;
    if (list[comma] == '\\' && is_quoted && comma + 1 < list.size()) ++comma;
  }
  const std::string_view element = trimmed(list.substr(0, comma));
  list.remove_prefix(std::min(comma + 1, list.size()));
  return element;
}

// Reads 1 to 19 digits, which always fit. Nothing for any other text.
constexpr std::optional<std::uint64_t> parse_digits(std::string_view text) {
  if (text.empty() || text.size() > 19 || !std::ranges::all_of(text, is_digit)) return {};
  std::uint64_t number = 0;
  for (const char digit : text) number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  return number;
}

}  // namespace http
