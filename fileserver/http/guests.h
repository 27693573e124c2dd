// What is asked for by a link, without an account: "/-/l/TOKEN/" and what is below it.
// docs/http.md, "Links for guests", says what is answered when.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fileserver/auth/guest_link.h"
#include "fileserver/auth/log_in.h"
#include "fileserver/rights/user_rights.h"
#include "http/status.h"

namespace fileserver {

class Exchange;
struct Parts;

// Whoever has a link. The maker's rights bound what he may.
struct Guest {
  std::string token;
  std::string secret;  // of the password that the request has; empty: none
  GuestLink link;
};

inline constexpr std::string_view kGuestPaths = "-/l/";

// All methods of these paths. Asks the authserver about the link, and then answers as if its maker
// had asked for what the path names, with fewer rights.
void answer_guest(Exchange& exchange, Parts& parts);

// Whether uses of the link are counted by which the request is made. False if it is made by none.
bool counts_uses(const Exchange& exchange);

// Counts a use, if they are counted, right before a file is sent or gets its name. Returns the
// status of the answer if there is none left. May block.
std::optional<http::Status> refusal_of_use(const Exchange& exchange, Parts& parts);

// Another name for the file of a guest where something has its own: "a (2).txt" is the first one.
// It is as long as a name may be at most.
std::string other_name(std::string_view name, int tries);

// Asks again whether the guest of the request may go on. May block.
LogIn::Answer ask_again_for_guest(const Exchange& exchange, Parts& parts);

// The rights of whoever the request is from, as they are now.
UserRights rights_of(const Exchange& exchange, const Parts& parts);

// The name of the folder as a guest sees it: what is below the link. Empty for the folder of the
// link itself.
std::string_view name_for_guest(const Guest& guest, std::string_view folder);

// The last part of the path of the link; empty for the served folder.
std::string_view title_for_guest(const Guest& guest);

}  // namespace fileserver
