#include "authserver/tokens.h"

#include <sodium.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>

#include "authserver/account_marks.h"
#include "authserver/passwords/scheme.h"
#include "base/log.h"
#include "wire/request.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

constexpr std::int64_t kHourS = 3600;
constexpr std::int64_t kWritingS = 60;  // so long after its place a token may still be written

std::int64_t now_s() { return std::time(nullptr); }

std::string new_token() {
  constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  std::array<unsigned char, 32> bits;
  ::randombytes_buf(bits.data(), bits.size());
  std::array<char, sodium_base64_ENCODED_LEN(32, kVariant)> text;
  ::sodium_bin2base64(text.data(), text.size(), bits.data(), bits.size(), kVariant);
  std::string token = text.data();
  ::sodium_memzero(bits.data(), bits.size());
  ::sodium_memzero(text.data(), text.size());
  return token;
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

// A token, and what belongs to it.
base::Status remove_token(AccountStore& store, const std::string& row, TokenKind kind) {
  if (const auto removed = remove_row(store, row); !removed) return removed;
  return kind == TokenKind::kLink ? remove_row(store, path_row_of(row)) : base::kDone;
}

base::Status write(AccountStore& store, const std::string& name, const std::string& record) {
  auto written = store.create({name, record});
  if (!written && written.error().code == ErrorCode::kExists)
    written = store.replace({name, record});
  return written;
}

Error others_are_at_it() {
  return {ErrorCode::kUnavailable, "others change the tokens of the user, and the store is slow"};
}

// A store that takes no changes now keeps nobody out: the hour is noted with a later use. So it is
// if somebody else has noted something meanwhile.
void note_use(AccountStore& store, SharedTokenState& shared, const std::string& row,
              const TokenRecord& token, std::int64_t now) {
  constexpr std::int64_t kPauseS = 60;
  TokenRecord used = token;
  used.used_s = now / kHourS * kHourS;
  if (now < shared.notes_no_use_until_s.load(std::memory_order_relaxed)) return;
  const auto noted = store.replace_if({row, text_of(used)}, text_of(token));
  if (!noted && noted.error().code != ErrorCode::kNotFound)
    shared.notes_no_use_until_s.store(now + kPauseS, std::memory_order_relaxed);
}

// Whether the account still is the one that the token was made for.
bool is_of(std::string_view row, const TokenRecord& token, std::string_view account_record) {
  const std::string seal = seal_of(row, token.kind, account_record);
  return !seal.empty() && seal == token.seal;
}

// The first place that is free, or whose token has ended, maybe with an account that was here
// before. kExists if there is none.
base::Result<std::size_t> free_place(AccountStore& store, const std::vector<Place>& places,
                                     std::string_view account_record, std::int64_t now) {
  const auto empty = std::ranges::find_if(places, &std::string::empty, &Place::row);
  std::vector<std::string_view> rows;
  std::transform(places.begin(), empty, std::back_inserter(rows),
                 [](const Place& place) -> std::string_view { return place.row; });
  const auto records = store.find_records(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!records[i] && records[i].error().code != ErrorCode::kNotFound) return records[i].error();
    const auto token = records[i] ? parse_token_record(*records[i]) : std::nullopt;
    if (!token && places[i].made_s + kWritingS > now) continue;
    // What a guest has begun with the last use goes on.
    const bool is_used_up = token && token->kind == TokenKind::kLink && token->link.uses_left == 0;
    if (is_used_up && empty != places.end()) continue;
    if (!token || has_ended(*token, now) || !is_of(rows[i], *token, account_record)) return i;
  }
  if (empty != places.end()) return rows.size();
  return Error{ErrorCode::kExists, "all places of the user are taken"};
}

// Takes the place as it was read. Others may have the same store, and take it meanwhile: then it is
// not taken.
base::Result<bool> claim(AccountStore& store, const std::string& name, const Place& before,
                         const Place& after) {
  const std::string record = text_of(after);
  if (before.row.empty()) {
    const auto created = store.create({name, record});
    if (created || created.error().code != ErrorCode::kExists)
      return created ? base::Result<bool>(true) : created.error();
  }
  const auto replaced = store.replace_if({name, record}, text_of(before));
  if (!replaced && replaced.error().code != ErrorCode::kNotFound) return replaced.error();
  return replaced.ok();
}

// Frees the place as it was read. Its row stays: somebody else may have taken the place before it
// were gone.
base::Status release(AccountStore& store, const std::string& name, const Place& before) {
  const auto freed = claim(store, name, before, Place());
  return freed ? base::Status(base::kDone) : freed.error();
}

// The place is written before the token: whatever ends this in between, no token is left that
// nobody counts. False: somebody else has taken the place, and there is no token.
base::Result<bool> keep_at(AccountStore& store, const std::string& name, const Place& before,
                           const std::string& row, const TokenRecord& token,
                           std::string_view path) {
  if (!before.row.empty()) {
    if (const auto closed = remove_token(store, before.row, token.kind); !closed)
      return closed.error();
  }
  const Place mine{row, token.made_s, token.ends_s};
  auto claimed = claim(store, name, before, mine);
  if (!claimed || !*claimed) return claimed;
  if (!before.row.empty()) {  // whose maker may have made it just now
    if (const auto closed = remove_token(store, before.row, token.kind); !closed)
      return closed.error();
  }
  if (!path.empty()) {
    if (const auto kept = write(store, path_row_of(row), record_of_path(path)); !kept)
      return kept.error();
  }
  if (const auto made = store.create({row, text_of(token)}); !made) return made.error();
  const auto now = store.find_record(name);
  if (!now && now.error().code != ErrorCode::kNotFound) return now.error();
  if (now && parse_place(*now).row == row) return true;
  const auto removed = remove_token(store, row, token.kind);
  return removed ? base::Result<bool>(false) : removed.error();
}

base::Status keep(AccountStore& store, const std::string& row, const TokenRecord& token,
                  std::string_view account_record, std::string_view path) {
  constexpr int kMostTries = 64;
  const auto names = place_names(token.user, token.kind);
  for (int tries = 0; tries < kMostTries; ++tries) {
    const auto places = places_at(store, names);
    if (!places) return places.error();
    const auto best = row_of(token.kind).gives_way
                          ? base::Result<std::size_t>(best_place(*places, token.made_s))
                          : free_place(store, *places, account_record, token.made_s);
    if (!best) return best.error();
    const auto kept = keep_at(store, names[*best], (*places)[*best], row, token, path);
    if (!kept) return kept.error();
    if (*kept) return base::kDone;
  }
  return Error{ErrorCode::kUnavailable, "others go on taking the places of the user"};
}

// What lies at one of the places of a user, and its name.
struct NamedPlace {
  std::string name;
  Place place;
  TokenKind kind;
};

base::Result<std::vector<NamedPlace>> taken_places(AccountStore& store, std::string_view user,
                                                   std::span<const TokenKind> kinds) {
  std::vector<NamedPlace> taken;
  for (const TokenKind kind : kinds) {
    auto names = place_names(user, kind);
    auto places = places_at(store, names);
    if (!places) return places.error();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!(*places)[i].row.empty()) taken.push_back({std::move(names[i]), (*places)[i], kind});
    }
  }
  return taken;
}

base::Status close_place(AccountStore& store, const NamedPlace& taken) {
  if (const auto closed = remove_token(store, taken.place.row, taken.kind); !closed) return closed;
  return release(store, taken.name, taken.place);
}

// Of each link.
base::Status add_paths(AccountStore& store, const std::vector<std::string>& rows,
                       std::vector<TokenEntry>& entries) {
  std::vector<std::string> names;
  std::vector<TokenEntry*> links;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].token.kind != TokenKind::kLink) continue;
    names.push_back(path_row_of(rows[i]));
    links.push_back(&entries[i]);
  }
  const std::vector<std::string_view> asked(names.begin(), names.end());
  const auto records = store.find_records(asked);
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!records[i] && records[i].error().code != ErrorCode::kNotFound) return records[i].error();
    if (records[i]) links[i]->path = parse_path_record(*records[i]);
  }
  return base::kDone;
}

// 0: there is none.
std::int64_t end_of(const NewToken& wanted, std::int64_t now) {
  const bool is_endless =
      wanted.kind == TokenKind::kApp || (wanted.kind == TokenKind::kLink && wanted.seconds == 0);
  return is_endless ? 0 : now + wanted.seconds;
}

LinkTerms terms_of(const wire::LinkWish& link, std::string_view token) {
  return {link.may, link.uses == 0 ? kAnyNumber : link.uses, proof_of(token, link.secret)};
}

}  // namespace

base::Result<std::string> open_token(AccountStore& store, SharedTokenState& shared,
                                     std::string_view user, std::string_view account_record,
                                     const NewToken& wanted) {
  std::string token = new_token();
  const std::string row = row_of_token(token);
  const std::int64_t now = now_s();
  TokenRecord record{now,
                     now / kHourS * kHourS,
                     end_of(wanted, now),
                     seal_of(row, wanted.kind, account_record),
                     std::string(user),
                     wanted.kind,
                     std::string(wanted.name)};
  if (wanted.link != nullptr) record.link = terms_of(*wanted.link, token);
  const auto path = wanted.link == nullptr ? std::string_view() : wanted.link->path;
  const HeldName held(shared.locks_of_users, user);
  if (!held.is_held()) return others_are_at_it();
  const auto kept = keep(store, row, record, account_record, path);
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
    if (token.kind != TokenKind::kLink)
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
  const HeldName held(shared.locks_of_users, token->user);
  if (!held.is_held()) return others_are_at_it();
  const std::array kind{token->kind};
  const auto places = taken_places(store, token->user, kind);
  if (!places) return places.error();
  for (const NamedPlace& taken : *places) {
    if (taken.place.row == row) return release(store, taken.name, taken.place);
  }
  return base::kDone;
}

namespace {

base::Status close_tokens_of(AccountStore& store, std::string_view user, Ended which) {
  constexpr std::array kAll{TokenKind::kSession, TokenKind::kInvitation, TokenKind::kLink,
                            TokenKind::kApp};
  const std::span<const TokenKind> all(kAll);
  const auto places =
      taken_places(store, user, which == Ended::kAll ? all : all.first(kAll.size() - 1));
  if (!places) return places.error();
  for (const NamedPlace& taken : *places) {
    if (const auto closed = close_place(store, taken); !closed) return closed;
  }
  return base::kDone;
}

}  // namespace

void clear_tokens_of(AccountStore& store, std::string_view user, Ended which) {
  const auto closed = close_tokens_of(store, user, which);
  if (!closed)
    base::log::warn("tokens that have ended stay in the store user={} reason=\"{}\"", user,
                    closed.error().context);
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
                                                  std::string_view account_record,
                                                  std::span<const TokenKind> kinds) {
  const auto places = taken_places(store, user, kinds);
  if (!places) return places.error();
  std::vector<std::string_view> rows;
  for (const auto& one : *places) rows.push_back(one.place.row);
  const std::int64_t now = now_s();
  std::vector<TokenEntry> entries;
  std::vector<std::string> rows_of_entries;
  const auto records = store.find_records(rows);
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!records[i] && records[i].error().code != ErrorCode::kNotFound) return records[i].error();
    auto token = records[i] ? parse_token_record(*records[i]) : std::nullopt;
    if (!token || has_ended(*token, now) || !is_of(rows[i], *token, account_record)) continue;
    entries.push_back({id_of(rows[i]), std::move(*token)});
    rows_of_entries.emplace_back(rows[i]);
  }
  if (const auto added = add_paths(store, rows_of_entries, entries); !added) return added.error();
  return entries;
}

base::Status end_token(AccountStore& store, SharedTokenState& shared, std::string_view user,
                       std::string_view id, std::span<const TokenKind> kinds) {
  const HeldName held(shared.locks_of_users, user);
  if (!held.is_held()) return others_are_at_it();
  const auto places = taken_places(store, user, kinds);
  if (!places) return places.error();
  for (const NamedPlace& taken : *places) {
    if (id_of(taken.place.row) == id) return close_place(store, taken);
  }
  return Error{ErrorCode::kNotFound, "no such token"};
}

}  // namespace authserver
