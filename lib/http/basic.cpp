#include "http/basic.h"

#include <cstdint>

#include "http/syntax.h"

namespace http {

namespace {

// The value of a digit of base64, or -1.
int base64_value(char byte) {
  if (byte >= 'A' && byte <= 'Z') return byte - 'A';
  if (byte >= 'a' && byte <= 'z') return byte - 'a' + 26;
  if (is_digit(byte)) return byte - '0' + 52;
  if (byte == '+') return 62;
  return byte == '/' ? 63 : -1;
}

std::size_t padding_of(std::string_view text) {
  if (text.ends_with("==")) return 2;
  return text.ends_with("=") ? 1 : 0;
}

}  // namespace

std::optional<std::size_t> decode_base64(std::string_view text, std::span<char> out) {
  const std::size_t padding = padding_of(text);
  if (text.size() % 4 != 0 || out.size() < text.size() / 4 * 3 - padding) return {};
  std::size_t size = 0;
  std::uint32_t bits = 0;  // those that are not written yet are the lowest `count`
  unsigned count = 0;
  for (const char digit : text.substr(0, text.size() - padding)) {
    const int value = base64_value(digit);
    if (value < 0) return {};
    bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out[size++] = static_cast<char>(bits >> count & 0xff);
  }
  if ((bits & ((1U << count) - 1)) != 0) return {};
  return size;
}

std::optional<BasicCredentials> parse_basic(std::string_view value, std::span<char> out) {
  constexpr std::string_view kScheme = "Basic ";
  if (!is_same(value.substr(0, kScheme.size()), kScheme)) return {};
  value.remove_prefix(kScheme.size());
  const std::optional<std::size_t> size = decode_base64(trimmed(value), out);
  if (!size) return {};
  const std::string_view text(out.data(), *size);
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  return BasicCredentials{text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace http
