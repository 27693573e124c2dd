#include "http/digest.h"

#include "http/basic.h"
#include "http/syntax.h"

namespace http {

namespace {

// Reads ":BASE64:" and maybe parameters.
Digest parse_sha256(std::string_view value) {
  Digest digest{Digest::Kind::kMalformed};
  if (!value.starts_with(':')) return digest;
  value.remove_prefix(1);
  const std::size_t end = value.find(':');
  if (end == std::string_view::npos) return digest;
  const std::string_view rest = value.substr(end + 1);
  const auto size = decode_base64(value.substr(0, end), digest.sha256);
  if (size == digest.sha256.size() && (rest.empty() || rest.front() == ';'))
    digest.kind = Digest::Kind::kSha256;
  return digest;
}

}  // namespace

Digest parse_digest(const RequestHead& head, Field field) {
  Digest digest;
  head.each(field, [&](std::string_view list) {
    while (!list.empty()) {
      const std::string_view element = take_element(list);
      const std::size_t key_size = std::min(element.find('='), element.size());
      if (element.substr(0, key_size) != "sha-256") continue;
      digest = parse_sha256(element.substr(std::min(key_size + 1, element.size())));
    }
  });
  return digest;
}

}  // namespace http
