// Tokens, each of which speaks for a user for some time: docs/protocol.md, "Sessions".
//
// They lie in the store among the accounts, under names that no user can have. So every store keeps
// them without a change of its schema or of the rights in its server, they are as durable as
// accounts, and all authservers of a store know them. A token has two rows:
//
//   :tHASH       what it is; HASH is that of the token, which itself is stored nowhere
//   :sUSERnn     the user's place number nn, which holds HASH; USER is a hash of the name
//
// A user has as many tokens of a kind as places of it. A new session beyond them takes the place of
// the oldest, and a new invitation that of the one before. A new application password is refused.
// Other letters than `s` are the places of other kinds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "authserver/stores/account_store.h"
#include "base/process_mutex.h"
#include "base/result.h"
#include "wire/request.h"

namespace authserver {

inline constexpr int kSessionPlaces = 32;
inline constexpr int kAppPlaces = 32;

enum class TokenKind : std::uint8_t {
  kSession,     // speaks for the user
  kApp,         // is a password of the user for one program; has no end
  kInvitation,  // sets the password of the user, once
};

// As the store and the protocol call it.
std::string_view word_of(TokenKind kind);

// What the store knows of a token.
struct TokenRecord {
  std::int64_t made_s = 0;  // times are seconds since 1970
  std::int64_t used_s = 0;  // the hour in which it was used last
  std::int64_t ends_s = 0;
  std::string seal;  // of the account's record when the token was made
  std::string user;
  TokenKind kind = TokenKind::kSession;
  std::string name = {};  // of the program
};

std::string text_of(const TokenRecord& record);
std::optional<TokenRecord> parse_token_record(std::string_view text);

// The name of the row of a token. Requires: wire::is_token(token).
std::string row_of_token(std::string_view token);

// Whether a name in the store is that of a row of tokens, and not that of a user.
inline bool is_row_of_tokens(std::string_view name) { return name.starts_with(':'); }

// Ties a token to the password record that its account has: of another token, or of another record,
// the seal is another one. So a token ends with the password, whoever changes that and by whatever
// way. The marks of the account do not count: a token goes on when a disabled account is enabled.
//
// An application password outlives a password, and is tied to a key in the marks instead, which the
// account got with its first one. An account that was removed and made again has another key.
std::string seal_of(std::string_view row, TokenKind kind, std::string_view account_record);

// What all threads or processes of one authserver share. Lies in shared memory.
struct SharedTokenState {
  // Whoever changes the places of a user holds one, so that two at a time do not take the same.
  std::array<base::ProcessMutex, 64> locks_of_users;

  // The store takes no changes now. Until then no use of a token is noted, so that no reader waits.
  std::atomic<std::int64_t> notes_no_use_until_s = 0;
};

// What a new token is to be.
struct NewToken {
  TokenKind kind;
  std::int64_t seconds;  // how long it lasts; of no meaning for kApp
  std::string_view name = {};
};

// Makes a token, and returns it once it is durable. `account_record` is the one that the user's
// password was checked against. kExists if the user has application passwords at all places.
base::Result<std::string> open_token(AccountStore& store, SharedTokenState& shared,
                                     std::string_view user, std::string_view account_record,
                                     const NewToken& wanted);

// Whether the token of this row is good. `account_record` is that of its user. Notes the hour of
// its use. A token that has ended is removed. kDenied if it is not good, or the account is
// disabled.
base::Status check_token(AccountStore& store, SharedTokenState& shared, const std::string& row,
                         const TokenRecord& token, const base::Result<std::string>& account_record);

// Ends the token, and frees its place. Succeeds too if there is none.
base::Status close_token(AccountStore& store, SharedTokenState& shared, const std::string& row);

// Ends the tokens of a user: all of them, or all but the application passwords. Of a user without
// one it only reads.
enum class Ended : std::uint8_t { kAll, kAllButApps };
base::Status close_tokens_of(AccountStore& store, std::string_view user, Ended which);

bool is_app_of(const TokenRecord& token, std::string_view user);

// Whether the password is an application password of the user. kDenied if it is none.
base::Status check_app(AccountStore& store, SharedTokenState& shared, wire::Credentials account);

// A token that is good, as its user and administrators see it.
struct TokenEntry {
  std::string id;  // neither the token nor enough to guess it
  TokenRecord token;
};

// The sessions and application passwords of a user. Each list is in the order of its places.
base::Result<std::vector<TokenEntry>> list_tokens(AccountStore& store, std::string_view user,
                                                  std::string_view account_record);

std::string id_of(std::string_view row);

// Ends the token of the user that has this ID. kNotFound if no token of these kinds has it.
base::Status end_token(AccountStore& store, SharedTokenState& shared, std::string_view user,
                       std::string_view id, std::span<const TokenKind> kinds);

}  // namespace authserver
