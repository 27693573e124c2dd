// The requests: parsing and printing only, no sockets, no clock.
//
// Parsing allocates no memory. A parsed request points into its line, which must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "wire/wish.h"

namespace wire {

inline constexpr std::size_t kMaxUserBytes = 64;
inline constexpr std::size_t kMaxPasswordBytes = 128;

struct Credentials {
  std::string_view user;
  std::string_view password;
};

struct Ping {};
struct New {
  Credentials account;
};
struct Get {
  Credentials account;
};
struct Auth {
  Credentials account;
};

// A token speaks for its user for some time, as the password does: docs/protocol.md, "Sessions".
inline constexpr std::size_t kTokenBytes = 43;
inline constexpr std::int64_t kMaxTokenSeconds = 90 * std::int64_t{86'400};

struct Open {
  std::int64_t seconds;  // 1 to kMaxTokenSeconds
  Credentials account;
};
struct Token {
  std::string_view token;  // not empty; is_token() may still be false
};
struct Close {
  std::string_view token;  // the same
};
struct NewPassword {
  Credentials account;  // with the old password
  std::string_view password;
};

// What a person asks for: whose token or password it is says who.
struct As {
  std::string_view token;              // empty: see `account`; is_token() may be false
  std::optional<Credentials> account;  // nothing: see `token`
  Wish wish;
};

struct FileName {
  std::string_view name;  // not empty, no control bytes; is_file_name() may still be false
};

// A line that is refused before anything is done: kSyntax or kInvalid.
struct Refused {
  base::ErrorCode code;
  bool was_get;          // begins with "get:", so that the connection is no longer logged in
  bool was_new = false;  // begins with "new:" and has no control byte
};

using ClientRequest = std::variant<Ping, New, Get, FileName, Refused>;
using AuthRequest = std::variant<Ping, New, Auth, Open, Token, Close, NewPassword, As, Refused>;

// Parses a line from a client to the fileserver, given without its line ending.
ClientRequest parse_client_line(std::string_view line);

// Parses a line from the fileserver to the authserver, given without its line ending.
AuthRequest parse_auth_line(std::string_view line);

// Whether a user name has 1 to 64 bytes, all of A-Z a-z 0-9 . _ - @ +
bool is_valid_user(std::string_view user);

// Whether a password has 1 to 128 bytes and no control bytes.
bool is_valid_password(std::string_view password);

// Whether a token has 43 bytes, all of A-Z a-z 0-9 - _
bool is_token(std::string_view token);

// Why a request with these credentials is refused: kSyntax for a control byte, kInvalid for
// anything else that is not acceptable. Nothing if they are acceptable.
std::optional<base::ErrorCode> refusal_of(Credentials account);

// Whether a name is a relative path without empty parts, "." and "..".
bool is_file_name(std::string_view name);

// The line of a request, with its LF. Credentials are printed in the compact form.
std::string line_of(const Ping& ping);
std::string line_of(const New& request);
std::string line_of(const Get& request);
std::string line_of(const Auth& request);
std::string line_of(const Open& request);
std::string line_of(const Token& request);
std::string line_of(const Close& request);
std::string line_of(const NewPassword& request);
std::string line_of(const As& request);
std::string line_of(const FileName& file);

}  // namespace wire
