// What the store knows of a token, as texts: docs/protocol.md, "Sessions".
//
// Tokens lie in the store among the accounts, under names that no user can have. So every store
// keeps them without a change of its schema or of the rights in its server, they are as durable as
// accounts, and all authservers of a store know them. A token has two rows, a link a third one:
//
//   :tHASH       what it is; HASH is that of the token, which itself is stored nowhere
//   :sUSERnn     the user's place number nn, which holds HASH; USER is a hash of the name
//   :fHASH       the path of a link
//
// Other letters than `s` are the places of other kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/wish.h"

namespace authserver {

enum class TokenKind : std::uint8_t {
  kSession,     // speaks for the user
  kApp,         // is a password of the user for one program; has no end
  kInvitation,  // sets the password of the user, once
  kLink,        // lets guests have something of the user's (links.h); may have no end
};

// What the kinds differ in.
struct KindRow {
  TokenKind kind;
  std::string_view word;  // as the store and the protocol call it
  char letter;            // of its places
  int places;             // a user has as many tokens of the kind
  bool gives_way;         // the oldest to a further one, which else is refused
};
const KindRow& row_of(TokenKind kind);
inline std::string_view word_of(TokenKind kind) { return row_of(kind).word; }

inline constexpr int kSessionPlaces = 32;
inline constexpr int kAppPlaces = 32;
inline constexpr int kLinkPlaces = 64;

// What a link is for.
struct LinkTerms {
  bool operator==(const LinkTerms&) const = default;

  wire::GuestsMay may = wire::GuestsMay::kRead;
  std::int64_t uses_left = 0;  // kAnyNumber: it does not matter
  std::string proof = {};      // of its password (proof_of()); empty: it has none
};
inline constexpr std::int64_t kAnyNumber = -1;

struct TokenRecord {
  std::int64_t made_s = 0;  // times are seconds since 1970
  std::int64_t used_s = 0;  // the hour in which it was used last
  std::int64_t ends_s = 0;  // 0: it has no end
  std::string seal;         // of the account's record when the token was made
  std::string user;
  TokenKind kind = TokenKind::kSession;
  std::string name = {};  // of the program that has it
  LinkTerms link = {};
};

std::string text_of(const TokenRecord& record);
std::optional<TokenRecord> parse_token_record(std::string_view text);

bool has_ended(const TokenRecord& token, std::int64_t now_s);

// What lies at a place of a user. Without a row nothing does.
struct Place {
  std::string row;  // of its token; empty: none
  std::int64_t made_s = 0;
  std::int64_t ends_s = 0;
};

std::string text_of(const Place& place);
Place parse_place(std::string_view text);

// The path of a link is a record, too. Empty for a text that is none.
std::string record_of_path(std::string_view path);
std::string_view parse_path_record(std::string_view text);

// The name of the row of a token, and that of the path of its link. Requires:
// wire::is_token(token).
std::string row_of_token(std::string_view token);
std::string path_row_of(std::string_view row);

// The names of all places of the user, in their order.
std::vector<std::string> place_names(std::string_view user, TokenKind kind);

// Whether a name in the store is that of a row of tokens, and not that of a user.
inline bool is_row_of_tokens(std::string_view name) { return name.starts_with(':'); }

// How a token is called where it may be seen: neither the token nor enough to guess it.
std::string id_of(std::string_view row);

// Ties a token to the password record that its account has: of another token, or of another record,
// the seal is another one. So a token ends with the password, whoever changes that and by whatever
// way. The marks of the account do not count: a token goes on when a disabled account is enabled.
//
// An application password outlives a password, and is tied to a key in the marks instead, which the
// account got with its first one. An account that was removed and made again has another key.
std::string seal_of(std::string_view row, TokenKind kind, std::string_view account_record);

// What is kept of the password of a link. Nobody tries out passwords with it who does not have the
// token, which is stored nowhere. `secret` is what wire::LinkWish has.
std::string proof_of(std::string_view token, std::string_view secret);

// The first byte of a hash of the user.
std::uint8_t shard_of(std::string_view user);

}  // namespace authserver
