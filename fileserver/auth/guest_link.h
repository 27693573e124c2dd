// A link by which guests have something without an account: docs/http.md, "Links for guests".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/wish.h"

namespace fileserver {

// What the authserver tells of a link that may be visited.
struct GuestLink {
  std::string id;
  std::string maker;  // a guest never may more than this user at that moment
  wire::GuestsMay may;
  bool counts_uses;  // else any number of uses is left
  std::string path;  // without a slash at its end; empty: the served folder
  bool is_folder;
};

// The text is the answer to `visit` or `use`, such as "open ID amy read - docs/". Nothing for any
// other.
std::optional<GuestLink> parse_guest_link(std::string_view told);

// What the answer is while the password is missing or wrong.
inline constexpr std::string_view kClosedLink = "closed";

// What is told to the authserver of the password of a link: base64url of its SHA-256. Empty for an
// empty password.
std::string secret_of_link(std::string_view password);

}  // namespace fileserver
