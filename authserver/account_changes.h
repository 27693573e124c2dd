// Changes one account of a store: --add-account, --remove-account and --set-password.
#pragma once

#include <string>

#include "authserver/passwords/scheme.h"
#include "authserver/stores/account_store.h"
#include "base/result.h"

namespace authserver {

// Each returns once the change is durable. Every request that any authserver receives afterwards is
// answered by it. A new password and a removal end the tokens of the user, too. The report on
// standard error names the user and `where`, the store. The error names the user: kExists if the
// name is taken, kNotFound if there is no such user. Requires: wire::is_valid_user(user).
//
// The new password is the first line of standard input, without its LF or CR LF. kInvalid if it is
// not acceptable, or if standard input is a terminal, which would show it. Nothing is changed then.
base::Status add_account(AccountStore& store, const std::string& where, const std::string& user,
                         Scheme scheme);
base::Status set_password(AccountStore& store, const std::string& where, const std::string& user,
                          Scheme scheme);
base::Status remove_account(AccountStore& store, const std::string& where, const std::string& user);

}  // namespace authserver
