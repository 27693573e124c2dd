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

std::vector<std::string> place_names(std::string_view user) {
  const std::string stem = ":s" + base64url(digest_of({user}));
  std::vector<std::string> names;
  names.reserve(kSessionPlaces);
  for (int number = 0; number < kSessionPlaces; ++number)
    names.push_back(fmt::format("{}{:02}", stem, number));
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

// The place is written before the token: whatever ends this in between, no token is left that
// nobody counts.
base::Status keep(AccountStore& store, std::string_view user, const std::string& row,
                  const TokenRecord& token) {
  const auto names = place_names(user);
  const auto places = places_at(store, names);
  if (!places) return places.error();
  const std::size_t best = best_place(*places, token.made_s);
  if (const std::string& old = (*places)[best].row; !old.empty()) {
    if (const auto closed = remove_row(store, old); !closed) return closed;
  }
  const Place mine{row, token.made_s, token.ends_s};
  if (const auto placed = write(store, names[best], text_of(mine)); !placed) return placed;
  return store.create({row, text_of(token)});
}

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

}  // namespace

std::string text_of(const TokenRecord& record) {
  return fmt::format("{}session {} {} {} {} {}", kTokenMark, record.made_s, record.used_s,
                     record.ends_s, record.seal, record.user);
}

std::optional<TokenRecord> parse_token_record(std::string_view text) {
  Words words(text, kTokenMark);
  const bool is_session = words.next() == "session";
  TokenRecord record{words.number(), words.number(), words.number(), std::string(words.next()),
                     std::string(words.next())};
  if (!words.is_good() || !is_session || !wire::is_valid_user(record.user)) return {};
  return record;
}

std::string row_of_token(std::string_view token) { return ":t" + base64url(digest_of({token})); }

std::string seal_of(std::string_view row, std::string_view account_record) {
  const std::string_view password = parse_account_record(account_record).password;
  return base64url(digest_of({row, " ", password})).substr(0, 22);
}

base::Result<std::string> open_token(AccountStore& store, SharedTokenState& shared,
                                     std::string_view user, std::string_view account_record,
                                     std::int64_t seconds) {
  std::string token = new_token();
  const std::string row = row_of_token(token);
  const std::int64_t now = now_s();
  const Held held(shared, user);
  const auto kept = keep(
      store, user, row,
      {now, now / kHourS * kHourS, now + seconds, seal_of(row, account_record), std::string(user)});
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
  if (token.ends_s <= now) {
    static_cast<void>(remove_row(store, row));  // it is denied whether or not its row is gone
    return Error{ErrorCode::kDenied, "the token has ended"};
  }
  if (!account_record || seal_of(row, *account_record) != token.seal)
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
  if (const auto removed = remove_row(store, row); !removed) return removed;
  const auto token = parse_token_record(*found);
  if (!token) return base::kDone;
  const Held held(shared, token->user);
  const auto names = place_names(token->user);
  const auto places = places_at(store, names);
  if (!places) return places.error();
  const auto mine = std::ranges::find(*places, row, &Place::row);
  if (mine == places->end()) return base::kDone;
  return remove_row(store, names[static_cast<std::size_t>(mine - places->begin())]);
}

base::Status close_tokens_of(AccountStore& store, std::string_view user) {
  const auto names = place_names(user);
  const auto places = places_at(store, names);
  if (!places) return places.error();
  for (std::size_t i = 0; i < places->size(); ++i) {
    if ((*places)[i].row.empty()) continue;
    if (const auto closed = remove_row(store, (*places)[i].row); !closed) return closed;
    if (const auto freed = remove_row(store, names[i]); !freed) return freed;
  }
  return base::kDone;
}

}  // namespace authserver
