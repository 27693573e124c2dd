#include "authserver/tokens.h"

#include <fmt/core.h>
#include <sodium.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <iterator>
#include <vector>

#include "authserver/account_marks.h"
#include "authserver/passwords/scheme.h"
#include "wire/request.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

using Digest = std::array<unsigned char, crypto_hash_sha256_BYTES>;

constexpr std::string_view kTokenMark = "$token$";
constexpr std::string_view kPlaceMark = "$place$";
constexpr std::int64_t kHourS = 3600;

std::int64_t now_s() { return std::time(nullptr); }

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

std::string new_token() {
  Digest bits;
  ::randombytes_buf(bits.data(), bits.size());
  auto token = base64url(bits);
  ::sodium_memzero(bits.data(), bits.size());
  return token;
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

// What lies at a place of a user. Without a row nothing does.
struct Place {
  std::string row;  // of its token; empty: none
  std::int64_t made_s = 0;
  std::int64_t ends_s = 0;
};

std::string text_of(const Place& place) {
  return fmt::format("{}{} {} {}", kPlaceMark, place.row, place.made_s, place.ends_s);
}

Place parse_place(std::string_view text) {
  Words words(text, kPlaceMark);
  Place place{std::string(words.next()), words.number(), words.number()};
  return words.is_good() ? place : Place();
}

// What the kinds differ in.
struct KindRow {
  TokenKind kind;
  std::string_view word;
  char letter;  // of its places
  int places;
};

// In the order of the kinds.
constexpr std::array kKinds{
    KindRow{TokenKind::kSession, "session", 's', kSessionPlaces},
    KindRow{TokenKind::kApp, "app", 'p', kAppPlaces},
    KindRow{TokenKind::kInvitation, "invitation", 'i', 1},
};

const KindRow& row_of(TokenKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

std::vector<std::string> place_names(std::string_view user, TokenKind kind) {
  const KindRow& row = row_of(kind);
  const std::string owner = base64url(digest_of({user}));
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(row.places));
  for (int number = 0; number < row.places; ++number)
    names.push_back(fmt::format(":{}{}{:02}", row.letter, owner, number));
  return names;
}

// The places of a user in their order. Fails if the store does not know one now.
base::Result<std::vector<Place>> places_at(AccountStore& store,
                                           const std::vector<std::string>& names) {
  const std::vector<std::string_view> asked(names.begin(), names.end());
  std::vector<Place> places;
  for (const auto& record : store.find_records(asked)) {
    if (!record && record.error().code != ErrorCode::kNotFound) return record.error();
    places.push_back(record ? parse_place(*record) : Place());
  }
  return places;
}

// A free one goes before one whose token has ended, and that before the one that is oldest.
std::size_t best_place(const std::vector<Place>& places, std::int64_t now) {
  const auto rank = [now](const Place& place) {
    return place.row.empty() || place.ends_s <= now ? 0 : place.made_s;
  };
  return static_cast<std::size_t>(
      std::distance(places.begin(), std::ranges::min_element(places, {}, rank)));
}

// Succeeds too if there is none.
base::Status remove_row(AccountStore& store, std::string_view name) {
  auto removed = store.remove(name);
  if (removed || removed.error().code == ErrorCode::kNotFound) return base::kDone;
  return removed;
}

base::Status write(AccountStore& store, const std::string& name, const std::string& record) {
  auto written = store.create({name, record});
  if (!written && written.error().code == ErrorCode::kExists)
    written = store.replace({name, record});
  return written;
}

class Held {
 public:
  Held(SharedTokenState& shared, std::string_view user)
      : mutex_(shared.locks_of_users.at(digest_of({user})[0] % shared.locks_of_users.size())) {
    mutex_.lock();
  }
  ~Held() { mutex_.unlock(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  base::ProcessMutex& mutex_;
};

// A store that takes no changes now keeps nobody out: the hour is noted with a later use.
void note_use(AccountStore& store, SharedTokenState& shared, const std::string& row,
              TokenRecord token, std::int64_t now) {
  constexpr std::int64_t kPauseS = 60;
  token.used_s = now / kHourS * kHourS;
  if (now < shared.notes_no_use_until_s.load(std::memory_order_relaxed)) return;
  const auto noted = store.replace({row, text_of(token)});
  if (!noted && noted.error().code != ErrorCode::kNotFound)
    shared.notes_no_use_until_s.store(now + kPauseS, std::memory_order_relaxed);
}

bool has_ended(const TokenRecord& token, std::int64_t now) {
  return token.kind != TokenKind::kApp && token.ends_s <= now;
}

// Whether the account still is the one that the token was made for.
bool is_of(std::string_view row, const TokenRecord& token, std::string_view account_record) {
  const std::string seal = seal_of(row, token.kind, account_record);
  return !seal.empty() && seal == token.seal;
}

// The first place that is free, or whose application password has ended with an account that was
// here before. kExists if there is none.
base::Result<std::size_t> free_place(AccountStore& store, const std::vector<Place>& places,
                                     std::string_view account_record) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].row.empty()) return i;
    const auto found = store.find_record(places[i].row);
    if (!found && found.error().code != ErrorCode::kNotFound) return found.error();
    const auto token = found ? parse_token_record(*found) : std::nullopt;
    if (!token || !is_of(places[i].row, *token, account_record)) return i;
  }
  return Error{ErrorCode::kExists, "the user has application passwords at all places"};
}

// The place is written before the token: whatever ends this in between, no token is left that
// nobody counts.
base::Status keep(AccountStore& store, const std::string& row, const TokenRecord& token,
                  std::string_view account_record) {
  const auto names = place_names(token.user, token.kind);
  const auto places = places_at(store, names);
  if (!places) return places.error();
  const auto best = token.kind == TokenKind::kApp
                        ? free_place(store, *places, account_record)
                        : base::Result<std::size_t>(best_place(*places, token.made_s));
  if (!best) return best.error();
  if (const std::string& old = (*places)[*best].row; !old.empty()) {
    if (const auto closed = remove_row(store, old); !closed) return closed;
  }
  const Place mine{row, token.made_s, token.ends_s};
  if (const auto placed = write(store, names[*best], text_of(mine)); !placed) return placed;
  return store.create({row, text_of(token)});
}

// What lies at one of the places of a user, and its name.
struct NamedPlace {
  std::string name;
  Place place;
};

base::Result<std::vector<NamedPlace>> taken_places(AccountStore& store, std::string_view user,
                                                   std::span<const TokenKind> kinds) {
  std::vector<NamedPlace> taken;
  for (const TokenKind kind : kinds) {
    auto names = place_names(user, kind);
    auto places = places_at(store, names);
    if (!places) return places.error();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!(*places)[i].row.empty()) taken.push_back({std::move(names[i]), (*places)[i]});
    }
  }
  return taken;
}

constexpr std::array kListedKinds{TokenKind::kSession, TokenKind::kApp};

}  // namespace

std::string_view word_of(TokenKind kind) { return row_of(kind).word; }

std::string text_of(const TokenRecord& record) {
  std::string text =
      fmt::format("{}{} {} {} {} {} {}", kTokenMark, word_of(record.kind), record.made_s,
                  record.used_s, record.ends_s, record.seal, record.user);
  if (!record.name.empty()) text.append(" ").append(record.name);
  return text;
}

std::optional<TokenRecord> parse_token_record(std::string_view text) {
  Words words(text, kTokenMark);
  const auto* const kind = std::ranges::find(kKinds, words.next(), &KindRow::word);
  TokenRecord record{words.number(), words.number(), words.number(), std::string(words.next()),
                     std::string(words.next())};
  if (!words.is_good() || kind == kKinds.end() || !wire::is_valid_user(record.user)) return {};
  record.kind = kind->kind;
  record.name = words.rest();
  return record;
}

std::string row_of_token(std::string_view token) { return ":t" + base64url(digest_of({token})); }

std::string id_of(std::string_view row) { return std::string(row.substr(2, wire::kTokenIdBytes)); }

std::string seal_of(std::string_view row, TokenKind kind, std::string_view account_record) {
  const auto [marks, password] = parse_account_record(account_record);
  const std::string_view tied_to = kind == TokenKind::kApp ? marks.apps_key : password;
  if (tied_to.empty()) return {};
  return base64url(digest_of({row, " ", tied_to})).substr(0, 22);
}

base::Result<std::string> open_token(AccountStore& store, SharedTokenState& shared,
                                     std::string_view user, std::string_view account_record,
                                     const NewToken& wanted) {
  std::string token = new_token();
  const std::string row = row_of_token(token);
  const std::int64_t now = now_s();
  const std::int64_t ends_s = wanted.kind == TokenKind::kApp ? 0 : now + wanted.seconds;
  const TokenRecord record{now,
                           now / kHourS * kHourS,
                           ends_s,
                           seal_of(row, wanted.kind, account_record),
                           std::string(user),
                           wanted.kind,
                           std::string(wanted.name)};
  const Held held(shared, user);
  const auto kept = keep(store, row, record, account_record);
  if (kept) return token;
  wipe(token);
  return kept.error();
}

base::Status check_token(AccountStore& store, SharedTokenState& shared, const std::string& row,
                         const TokenRecord& token,
                         const base::Result<std::string>& account_record) {
  if (!account_record && account_record.error().code != ErrorCode::kNotFound)
    return account_record.error();
  const std::int64_t now = now_s();
  if (has_ended(token, now)) {
    static_cast<void>(remove_row(store, row));  // it is denied whether or not its row is gone
    return Error{ErrorCode::kDenied, "the token has ended"};
  }
  if (!account_record || !is_of(row, token, *account_record))
    return Error{ErrorCode::kDenied, "the account is another one than that of the token"};
  if (parse_account_record(*account_record).marks.is_disabled)
    return Error{ErrorCode::kDenied, "the account is disabled"};
  if (token.used_s != now / kHourS * kHourS) note_use(store, shared, row, token, now);
  return base::kDone;
}

base::Status close_token(AccountStore& store, SharedTokenState& shared, const std::string& row) {
  const auto found = store.find_record(row);
  if (!found)
    return found.error().code == ErrorCode::kNotFound ? base::Status(base::kDone) : found.error();
  const auto token = parse_token_record(*found);
  if (token && token->kind != TokenKind::kSession) return base::kDone;
  if (const auto removed = remove_row(store, row); !removed) return removed;
  if (!token) return base::kDone;
  const Held held(shared, token->user);
  const std::array kind{token->kind};
  const auto places = taken_places(store, token->user, kind);
  if (!places) return places.error();
  for (const auto& [name, place] : *places) {
    if (place.row == row) return remove_row(store, name);
  }
  return base::kDone;
}

base::Status close_tokens_of(AccountStore& store, std::string_view user, Ended which) {
  constexpr std::array kAll{TokenKind::kSession, TokenKind::kInvitation, TokenKind::kApp};
  const std::span<const TokenKind> all(kAll);
  const auto places =
      taken_places(store, user, which == Ended::kAll ? all : all.first(kAll.size() - 1));
  if (!places) return places.error();
  for (const auto& [name, place] : *places) {
    if (const auto closed = remove_row(store, place.row); !closed) return closed;
    if (const auto freed = remove_row(store, name); !freed) return freed;
  }
  return base::kDone;
}

base::Status check_app(AccountStore& store, SharedTokenState& shared, wire::Credentials account) {
  const Error none{ErrorCode::kDenied, "no application password"};
  if (!wire::is_token(account.password)) return none;
  const std::string row = row_of_token(account.password);
  const auto found = store.find_record(row);
  if (!found)
    return found.error().code == ErrorCode::kNotFound ? base::Status(none) : found.error();
  const auto token = parse_token_record(*found);
  if (!token || !is_app_of(*token, account.user)) return none;
  return check_token(store, shared, row, *token, store.find_record(account.user));
}

bool is_app_of(const TokenRecord& token, std::string_view user) {
  return token.kind == TokenKind::kApp && token.user == user;
}

base::Result<std::vector<TokenEntry>> list_tokens(AccountStore& store, std::string_view user,
                                                  std::string_view account_record) {
  const auto places = taken_places(store, user, kListedKinds);
  if (!places) return places.error();
  std::vector<std::string_view> rows;
  for (const auto& one : *places) rows.push_back(one.place.row);
  const std::int64_t now = now_s();
  std::vector<TokenEntry> entries;
  const auto records = store.find_records(rows);
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!records[i] && records[i].error().code != ErrorCode::kNotFound) return records[i].error();
    auto token = records[i] ? parse_token_record(*records[i]) : std::nullopt;
    if (token && !has_ended(*token, now) && is_of(rows[i], *token, account_record))
      entries.push_back({id_of(rows[i]), std::move(*token)});
  }
  return entries;
}

base::Status end_token(AccountStore& store, SharedTokenState& shared, std::string_view user,
                       std::string_view id, std::span<const TokenKind> kinds) {
  const Held held(shared, user);
  const auto places = taken_places(store, user, kinds);
  if (!places) return places.error();
  for (const auto& [name, place] : *places) {
    if (id_of(place.row) != id) continue;
    if (const auto ended = remove_row(store, place.row); !ended) return ended;
    return remove_row(store, name);
  }
  return Error{ErrorCode::kNotFound, "no such token"};
}

}  // namespace authserver
