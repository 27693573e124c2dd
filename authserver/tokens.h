// Tokens, each of which speaks for a user for some time: docs/protocol.md, "Sessions".
//
// They lie in the store among the accounts, under names that no user can have. So every store keeps
// them without a change of its schema or of the rights in its server, they are as durable as
// accounts, and all authservers of a store know them. A token has two rows:
//
//   :tHASH       what it is; HASH is that of the token, which itself is stored nowhere
//   :sUSERnn     the user's place number nn, which holds HASH; USER is a hash of the name
//
// A user has as many tokens as places. A new one beyond them takes the place of the oldest.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "authserver/stores/account_store.h"
#include "base/process_mutex.h"
#include "base/result.h"

namespace authserver {

inline constexpr int kSessionPlaces = 32;

// What the store knows of a token.
struct TokenRecord {
  std::int64_t made_s = 0;  // times are seconds since 1970
  std::int64_t used_s = 0;  // the hour in which it was used last
  std::int64_t ends_s = 0;
  std::string seal;  // of the account's record when the token was made
  std::string user;
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
std::string seal_of(std::string_view row, std::string_view account_record);

// What all threads or processes of one authserver share. Lies in shared memory.
struct SharedTokenState {
  // Whoever changes the places of a user holds one, so that two at a time do not take the same.
  std::array<base::ProcessMutex, 64> locks_of_users;

  // The store takes no changes now. Until then no use of a token is noted, so that no reader waits.
  std::atomic<std::int64_t> notes_no_use_until_s = 0;
};

// Makes a token that ends after `seconds`, and returns it once it is durable. `account_record` is
// the one that the user's password was checked against.
base::Result<std::string> open_token(AccountStore& store, SharedTokenState& shared,
                                     std::string_view user, std::string_view account_record,
                                     std::int64_t seconds);

// Whether the token of this row is good. `account_record` is that of its user. Notes the hour of
// its use. A token that has ended is removed. kDenied if it is not good, or the account is
// disabled.
base::Status check_token(AccountStore& store, SharedTokenState& shared, const std::string& row,
                         const TokenRecord& token, const base::Result<std::string>& account_record);

// Ends the token, and frees its place. Succeeds too if there is none.
base::Status close_token(AccountStore& store, SharedTokenState& shared, const std::string& row);

// Ends all tokens of a user. Of a user without one it only reads.
base::Status close_tokens_of(AccountStore& store, std::string_view user);

}  // namespace authserver
