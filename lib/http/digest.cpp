#include "http/digest.h"

#include <algorithm>

#include "http/basic.h"
#include "http/syntax.h"

namespace http {

namespace {

// Calls visit(value) for each member sha-256 of the dictionary, in order. The value has its
// parameters, and is empty if the member has none.
template <typename Visit>
void each_sha256(const RequestHead& head, Field field, Visit visit) {
  head.each(field, [&](std::string_view list) {
    while (!list.empty()) {
      const std::string_view member = take_element(list);
      const std::size_t key_size = std::min(member.find('='), member.size());
      if (member.substr(0, key_size) == "sha-256")
        visit(member.substr(std::min(key_size + 1, member.size())));
    }
  });
}

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

// Whether it is an integer of RFC 8941 over 0, maybe with parameters.
bool is_positive(std::string_view value) {
  constexpr std::size_t kMostDigits = 15;
  const std::string_view digits = value.substr(0, value.find(';'));
  return digits.size() <= kMostDigits && parse_digits(digits).value_or(0) > 0;
}

}  // namespace

Digest parse_digest(const RequestHead& head, Field field) {
  Digest digest;
  each_sha256(head, field, [&](std::string_view value) { digest = parse_sha256(value); });
  return digest;
}

bool wants_sha256(const RequestHead& head) {
  bool is_wanted = false;
  each_sha256(head, Field::kWantReprDigest,
              [&](std::string_view value) { is_wanted = is_positive(value); });
  return is_wanted;
}

DigestText::DigestText(std::span<const std::uint8_t, 32> sha256) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::string_view kBegin = "sha-256=:";
  auto out = std::ranges::copy(kBegin, text_.begin()).out;
  // Each digit has six bits of two bytes, and there are zeros behind the last byte.
  for (std::size_t bit = 0; bit < 8 * sha256.size(); bit += 6) {
    const std::size_t at = bit / 8;
    const unsigned next = at + 1 < sha256.size() ? sha256[at + 1] : 0U;
    *out++ = kDigits[(unsigned{sha256[at]} << 8 | next) >> (10 - bit % 8) & 63];
  }
  std::ranges::copy(std::string_view("=:"), out);
}

}  // namespace http
