#include "http/upload_fields.h"

#include <algorithm>

#include "http/basic.h"
#include "http/syntax.h"

namespace http {

namespace {

std::string_view without_parameters(std::string_view value) {
  return trimmed(value.substr(0, value.find(';')));
}

// Takes the next parameter of a list with semicolons from its front. A semicolon in a quoted string
// belongs to it.
std::string_view take_parameter(std::string_view& list) {
  std::size_t end = 0;
  for (bool is_quoted = false; end < list.size(); ++end) {
    if (list[end] == ';' && !is_quoted) break;
    if (list[end] == '"') is_quoted = !is_quoted;
    if (list[end] == '\\' && is_quoted && end + 1 < list.size()) ++end;
  }
  const std::string_view parameter = trimmed(list.substr(0, end));
  list.remove_prefix(std::min(end + 1, list.size()));
  return parameter;
}

std::optional<std::string> unquoted(std::string_view value) {
  if (!value.starts_with('"')) return std::string(value);
  if (value.size() < 2 || !value.ends_with('"')) return {};
  value = value.substr(1, value.size() - 2);
  std::string text;
  for (std::size_t at = 0; at < value.size(); ++at) {
    if (value[at] == '\\' && ++at == value.size()) return {};
    text += value[at];
  }
  return text;
}

// Reads "UTF-8''a%20b" (RFC 8187).
std::optional<std::string> decoded_extended(std::string_view value) {
  constexpr std::string_view kCharset = "utf-8'";
  if (!is_same(value.substr(0, kCharset.size()), kCharset)) return {};
  value.remove_prefix(kCharset.size());
  const std::size_t quote = value.find('\'');
  if (quote == std::string_view::npos) return {};
  value.remove_prefix(quote + 1);
  std::string text;
  for (std::size_t at = 0; at < value.size(); ++at) {
    if (value[at] != '%') {
      text += value[at];
      continue;
    }
    const int high = at + 2 < value.size() ? hex_value(value[at + 1]) : -1;
    const int low = at + 2 < value.size() ? hex_value(value[at + 2]) : -1;
    if (high < 0 || low < 0) return {};
    text += static_cast<char>(high << 4 | low);
    at += 2;
  }
  return text;
}

}  // namespace

std::optional<bool> parse_boolean_item(std::string_view value) {
  const std::string_view item = without_parameters(value);
  if (item != "?1" && item != "?0") return {};
  return item == "?1";
}

std::optional<std::uint64_t> parse_count_item(std::string_view value) {
  constexpr std::size_t kMostDigits = 15;
  const std::string_view item = without_parameters(value);
  if (item.size() > kMostDigits) return {};
  return parse_digits(item);
}

bool has_media_type(const RequestHead& head, std::string_view type) {
  return is_same(without_parameters(head.value(Field::kContentType)), type);
}

std::optional<std::string> disposition_name(const RequestHead& head) {
  std::string_view list = head.value(Field::kContentDisposition);
  take_parameter(list);  // the type
  std::optional<std::string> plain;
  while (!list.empty()) {
    const std::string_view parameter = take_parameter(list);
    const std::size_t equals = parameter.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trimmed(parameter.substr(0, equals));
    const std::string_view value = trimmed(parameter.substr(equals + 1));
    if (is_same(key, "filename*")) return decoded_extended(value);
    if (is_same(key, "filename")) plain = unquoted(value);
  }
  return plain;
}

std::optional<std::string> metadata_value(std::string_view metadata, std::string_view key) {
  while (!metadata.empty()) {
    const std::string_view pair = take_element(metadata);
    const std::size_t blank = std::min(pair.find(' '), pair.size());
    if (pair.substr(0, blank) != key) continue;
    const std::string_view value = trimmed(pair.substr(blank));
    std::string decoded(value.size(), '\0');
    const auto size = decode_base64(value, decoded);
    if (!size) return {};
    decoded.resize(*size);
    return decoded;
  }
  return {};
}

Digest parse_checksum(const RequestHead& head) {
  if (!head.has(Field::kUploadChecksum)) return {};
  Digest digest{Digest::Kind::kMalformed};
  constexpr std::string_view kAlgorithm = "sha256 ";
  std::string_view value = head.value(Field::kUploadChecksum);
  if (!value.starts_with(kAlgorithm)) return digest;
  value = trimmed(value.substr(kAlgorithm.size()));
  if (decode_base64(value, digest.sha256) == digest.sha256.size())
    digest.kind = Digest::Kind::kSha256;
  return digest;
}

}  // namespace http
