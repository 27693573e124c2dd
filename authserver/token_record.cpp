#include "authserver/token_record.h"

#include <fmt/core.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>

#include "authserver/account_marks.h"
#include "wire/request.h"

namespace authserver {

namespace {

using Digest = std::array<unsigned char, crypto_hash_sha256_BYTES>;

constexpr std::string_view kTokenMark = "$token$";
constexpr std::string_view kPlaceMark = "$place$";
constexpr std::string_view kPathMark = "$path$";
constexpr std::string_view kNone = "-";  // where a word may be missing
constexpr std::size_t kShortHashBytes = 22;

std::string base64url(const Digest& bytes) {
  std::array<char, sodium_base64_ENCODED_LEN(crypto_hash_sha256_BYTES,
                                             sodium_base64_VARIANT_URLSAFE_NO_PADDING)>
      text;
  ::sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(),
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
  return text.data();
}

Digest digest_of(std::initializer_list<std::string_view> pieces) {
  crypto_hash_sha256_state state;
  ::crypto_hash_sha256_init(&state);
  for (const std::string_view piece : pieces)
    ::crypto_hash_sha256_update(&state, reinterpret_cast<const unsigned char*>(piece.data()),
                                piece.size());
  Digest digest;
  ::crypto_hash_sha256_final(&state, digest.data());
  ::sodium_memzero(&state, sizeof state);
  return digest;
}

// Reads what follows a mark: words, with one blank between two.
class Words {
 public:
  Words(std::string_view text, std::string_view mark)
      : rest_(text.substr(std::min(mark.size(), text.size()))), is_good_(text.starts_with(mark)) {}

  std::string_view next() {
    const std::size_t blank = rest_.find(' ');
    const std::string_view word = rest_.substr(0, blank);
    rest_ = blank == std::string_view::npos ? std::string_view() : rest_.substr(blank + 1);
    is_good_ = is_good_ && !word.empty();
    return word;
  }
  std::int64_t number() {
    const std::string_view word = next();
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
    is_good_ = is_good_ && failure == std::errc() && end == word.data() + word.size();
    return value;
  }
  std::string_view rest() const { return rest_; }
  bool is_good() const { return is_good_; }

 private:
  std::string_view rest_;
  bool is_good_;
};

// In the order of the kinds.
constexpr std::array kKinds{
    KindRow{TokenKind::kSession, "session", 's', kSessionPlaces, true},
    KindRow{TokenKind::kApp, "app", 'p', kAppPlaces, false},
    KindRow{TokenKind::kInvitation, "invitation", 'i', 1, true},
    KindRow{TokenKind::kLink, "link", 'l', kLinkPlaces, false},
};

std::string text_of(const LinkTerms& link) {
  return fmt::format("{} {} {}", wire::word_of(link.may), link.uses_left,
                     link.proof.empty() ? kNone : link.proof);
}

std::optional<LinkTerms> parse_terms(std::string_view text) {
  Words words(text, {});
  const auto may = wire::parse_guests_may(words.next());
  const std::int64_t uses_left = words.number();
  const std::string_view proof = words.next();
  if (!may || !words.is_good() || !words.rest().empty()) return {};
  return LinkTerms{*may, uses_left, std::string(proof == kNone ? std::string_view() : proof)};
}

}  // namespace

const KindRow& row_of(TokenKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

std::string text_of(const TokenRecord& record) {
  std::string text =
      fmt::format("{}{} {} {} {} {} {}", kTokenMark, word_of(record.kind), record.made_s,
                  record.used_s, record.ends_s, record.seal, record.user);
  const std::string rest = record.kind == TokenKind::kLink ? text_of(record.link) : record.name;
  if (!rest.empty()) text.append(" ").append(rest);
  return text;
}

std::optional<TokenRecord> parse_token_record(std::string_view text) {
  Words words(text, kTokenMark);
  const auto* const kind = std::ranges::find(kKinds, words.next(), &KindRow::word);
  TokenRecord record{words.number(), words.number(), words.number(), std::string(words.next()),
                     std::string(words.next())};
  if (!words.is_good() || kind == kKinds.end() || !wire::is_valid_user(record.user)) return {};
  record.kind = kind->kind;
  if (record.kind != TokenKind::kLink) {
    record.name = words.rest();
    return record;
  }
  auto link = parse_terms(words.rest());
  if (!link) return {};
  record.link = std::move(*link);
  return record;
}

bool has_ended(const TokenRecord& token, std::int64_t now_s) {
  if (token.kind == TokenKind::kApp) return false;
  const bool is_link = token.kind == TokenKind::kLink;
  if (is_link && token.link.uses_left == 0) return true;
  return !(is_link && token.ends_s == 0) && token.ends_s <= now_s;
}

std::string text_of(const Place& place) {
  return fmt::format("{}{} {} {}", kPlaceMark, place.row, place.made_s, place.ends_s);
}

Place parse_place(std::string_view text) {
  Words words(text, kPlaceMark);
  Place place{std::string(words.next()), words.number(), words.number()};
  return words.is_good() ? place : Place();
}

std::string record_of_path(std::string_view path) { return fmt::format("{}{}", kPathMark, path); }

std::string_view parse_path_record(std::string_view text) {
  return text.starts_with(kPathMark) ? text.substr(kPathMark.size()) : std::string_view();
}

std::string row_of_token(std::string_view token) { return ":t" + base64url(digest_of({token})); }

std::string path_row_of(std::string_view row) { return ":f" + std::string(row.substr(2)); }

std::vector<std::string> place_names(std::string_view user, TokenKind kind) {
  const KindRow& row = row_of(kind);
  const std::string owner = base64url(digest_of({user}));
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(row.places));
  for (int number = 0; number < row.places; ++number)
    names.push_back(fmt::format(":{}{}{:02}", row.letter, owner, number));
  return names;
}

std::string id_of(std::string_view row) { return std::string(row.substr(2, wire::kTokenIdBytes)); }

std::string seal_of(std::string_view row, TokenKind kind, std::string_view account_record) {
  const auto [marks, password] = parse_account_record(account_record);
  const std::string_view tied_to = kind == TokenKind::kApp ? marks.apps_key : password;
  if (tied_to.empty()) return {};
  return base64url(digest_of({row, " ", tied_to})).substr(0, kShortHashBytes);
}

std::string proof_of(std::string_view token, std::string_view secret) {
  if (secret.empty()) return {};
  return base64url(digest_of({"link ", token, " ", secret})).substr(0, kShortHashBytes);
}

std::uint8_t shard_of(std::string_view user) { return digest_of({user})[0]; }

}  // namespace authserver
