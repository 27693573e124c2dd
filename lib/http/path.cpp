#include "http/path.h"

#include <utility>

#include "base/text.h"
#include "http/syntax.h"
#include "wire/request.h"

namespace http {

namespace {

// Decodes "%41". Nothing if there are no two digits behind the "%" at `at`.
std::optional<char> decode_byte(std::string_view text, std::size_t at) {
  if (at + 2 >= text.size()) return {};
  const int high = hex_value(text[at + 1]);
  const int low = hex_value(text[at + 2]);
  if (high < 0 || low < 0) return {};
  return static_cast<char>(high << 4 | low);
}

// Returns how many bytes were written to `out`. Never writes behind what it has read.
std::optional<std::size_t> decode(std::string_view text, std::span<char> out) {
  std::size_t size = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    char byte = text[at];
    if (byte == '%') {
      const std::optional<char> decoded = decode_byte(text, at);
      if (!decoded) return {};
      byte = *decoded;
      at += 2;
    }
    out[size++] = byte;
  }
  return size;
}

}  // namespace

std::optional<Path> decode_path(std::string_view path, std::span<char> out) {
  if (!path.starts_with('/')) return {};
  const std::optional<std::size_t> size = decode(path, out);
  if (!size) return {};
  std::string_view name(out.data() + 1, *size - 1);
  const bool ends_with_slash = name.empty() || name.ends_with('/');
  if (name.ends_with('/'))
    name.remove_suffix(1);
  else if (name.empty())
    return Path{name, true};
  if (!is_path_name(name)) return {};
  return Path{name, ends_with_slash};
}

bool is_path_name(std::string_view name) {
  return wire::is_file_name(name) && !base::has_control(name) &&
         name.find('\\') == std::string_view::npos;
}

std::vector<std::string> query_values(std::string_view target, std::string_view key) {
  std::vector<std::string> values;
  target.remove_prefix(std::min(target.find('?'), target.size()));
  while (!target.empty()) {
    target.remove_prefix(1);  // the "?" or "&" before it
    const std::string_view part = target.substr(0, target.find('&'));
    target.remove_prefix(part.size());
    const std::string_view name = part.substr(0, part.find('='));
    if (name != key) continue;
    std::string value(part.substr(std::min(name.size() + 1, part.size())));
    std::string decoded(value);
    if (const auto size = decode(value, decoded)) {
      decoded.resize(*size);
      value = std::move(decoded);
    }
    values.push_back(std::move(value));
  }
  return values;
}

std::string encode_path(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-._~/";
  std::string encoded;
  for (const char byte : name) {
    if (is_digit(byte) || is_letter(byte) || kPlain.find(byte) != std::string_view::npos) {
      encoded += byte;
      continue;
    }
    const auto value = static_cast<unsigned char>(byte);
    encoded += {'%', kDigits[value >> 4], kDigits[value & 15]};
  }
  return encoded;
}

}  // namespace http
