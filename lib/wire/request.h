// The requests: parsing and printing only, no sockets, no clock.
//
// Parsing allocates nothing. A parsed request points into its line and lives as long as the line.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"

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
struct FileName {
  std::string_view name;  // at least one byte, no control bytes; is_file_name() may still be false
};

// A line that is not a request: kSyntax or kInvalid.
struct Refused {
  base::ErrorCode code;
  bool was_get;  // such a line leaves nobody granted, whatever is wrong with it
};

using ClientRequest = std::variant<Ping, New, Get, FileName, Refused>;
using AuthRequest = std::variant<Ping, New, Auth, Refused>;

// What a client says to the fileserver; the line without its line ending.
ClientRequest parse_client_line(std::string_view line);

// What the fileserver says to the authserver.
AuthRequest parse_auth_line(std::string_view line);

// 1 to 64 bytes of A-Z a-z 0-9 . _ - @ +
bool is_valid_user(std::string_view user);

// 1 to 128 bytes, no control bytes.
bool is_valid_password(std::string_view password);

// Relative, no empty part, no "." and no "..".
bool is_file_name(std::string_view name);

// The line that asks for it, with its LF. Credentials are printed in the compact form.
std::string line_of(const Ping& ping);
std::string line_of(const New& request);
std::string line_of(const Get& request);
std::string line_of(const Auth& request);
std::string line_of(const FileName& file);

}  // namespace wire
