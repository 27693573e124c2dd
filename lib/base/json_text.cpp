#include "base/json_text.h"

#include <algorithm>

#include "base/utf8.h"

namespace base {

namespace {

void append_unit(std::uint32_t unit, std::string& to) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  to += "\\u";
  for (const int shift : {12, 8, 4, 0}) to += kDigits[unit >> shift & 0xf];
}

void append_escape(std::uint32_t code, std::string& to) {
  constexpr std::string_view kCodes = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  const std::size_t which = code < 0x80 ? kCodes.find(static_cast<char>(code)) : kCodes.npos;
  if (which != kCodes.npos) {
    (to += '\\') += kLetters[which];
  } else if (code < 0x10000) {
    append_unit(code, to);
  } else {
    append_unit(0xd7c0 + (code >> 10), to);  // 0xd800 less the 0x10000 >> 10 that it leaves out
    append_unit(0xdc00 + (code & 0x3ff), to);
  }
}

}  // namespace

std::string json_text(std::string_view text, JsonText form) {
  const char last_plain = form == JsonText::kAscii ? '\x7e' : '\x7f';
  const auto is_plain = [last_plain](char c) {
    return c >= 0x20 && c <= last_plain && c != '"' && c != '\\';
  };
  std::string made;
  made.reserve(text.size() + 2);
  made += '"';
  while (true) {
    const auto plain_end = std::ranges::find_if_not(text, is_plain);
    made.append(text.begin(), plain_end);
    text.remove_prefix(static_cast<std::size_t>(plain_end - text.begin()));
    if (text.empty()) return made += '"';
    const auto [size_bytes, code] = utf8_front(text);
    if (form == JsonText::kAscii || code.value_or(0x80) < 0x80) {
      append_escape(code.value_or(0xfffd), made);
    } else {
      made += code ? text.substr(0, size_bytes) : std::string_view("\xef\xbf\xbd");
    }
    text.remove_prefix(size_bytes);
  }
}

}  // namespace base
