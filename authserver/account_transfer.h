// Copies accounts out of a store or into one, so that a change of the store keeps all accounts:
// --export, --import and --list-accounts.
#pragma once

#include <string>

#include "authserver/stores/account_store.h"
#include "base/result.h"

namespace authserver {

// A `path` of "-" is standard output or input. Each reports on standard error what was done, and
// names `where`, the store.

// Writes all accounts as CSV. Replaces the file only after the new one is complete, so a failure
// keeps the old one. A store without accounts replaces no file that has some.
base::Status export_accounts(AccountStore& store, const std::string& where,
                             const std::string& path);

// Never changes an account that exists. Skips one that has the same record, so that importing a
// file twice does no harm. If one has another record, the import still goes on to the end, and then
// fails with kExists. A line that is no account ends the import with kInvalid.
base::Status import_accounts(AccountStore& store, const std::string& where,
                             const std::string& path);

// Writes the names of all users that can log in, one a line, sorted by their bytes. Replaces the
// file as export_accounts() does. Reports nothing.
base::Status list_users(AccountStore& store, const std::string& path);

}  // namespace authserver
