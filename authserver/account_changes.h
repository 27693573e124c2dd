// Changes one account of a store: --add-account, --remove-account, --set-password, and its marks:
// --disable-account, --enable-account, --make-admin and --unmake-admin. --invite changes nothing.
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

// The same for the marks. A disabled account has its password, its rights and its tokens again when
// it is enabled. A new password leaves all marks as they are.
base::Status set_disabled(AccountStore& store, const std::string& where, const std::string& user,
                          bool is_disabled);
base::Status set_admin(AccountStore& store, const std::string& where, const std::string& user,
                       bool is_admin);

// Writes the path of a link to standard output, by which the user sets another password (invite()).
// A disabled account can use it when it is enabled.
base::Status print_link(AccountStore& store, const std::string& where, const std::string& user);

}  // namespace authserver
