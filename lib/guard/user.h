// The user as whom a server runs.
#pragma once

#include <string>

#include "base/result.h"

namespace guard {

// From now on no program that this process starts gets more rights than this process, not even a
// set-user-ID program. This cannot be undone. A sandbox requires it.
void forbid_more_rights();

bool is_root();

// The name of the user as whom the process runs, or its number if it has no name.
std::string user_name();

// Makes the process run as `user`, which is a name or a number, with the groups of that user. All
// rights of root are gone afterwards, and it is verified that they cannot be taken back. Does
// nothing if the process runs as this user already.
//
// Returns kInternal with the reason on failure. The process must then end, because it may have
// given up only a part of its rights. Requires: no other thread was started.
base::Status become_user(const std::string& user);

}  // namespace guard
