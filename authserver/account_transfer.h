// Copies accounts out of a store or into one, so that a change of the store keeps all accounts:
// --export and --import.
#pragma once

#include <string>

#include "authserver/stores/store_backend.h"
#include "base/result.h"

namespace authserver {

// What --export and --import name. At most one is set; "-" is standard output or input.
struct AccountTransfer {
  bool is_wanted() const { return !export_to.empty() || !import_from.empty(); }

  std::string export_to;
  std::string import_from;
};

// Carries out the transfer and reports on standard error what was done. Requires:
// transfer.is_wanted().
//
// An export creates no store. It replaces the file only after the new one is complete, so a failure
// keeps the old one. A store without accounts replaces no file that has some.
// An import never changes an account that exists. It skips one that has the same record, so that
// importing a file twice does no harm. If one has another record, the import still goes on to the
// end, and then fails with kExists. A line that is no account ends the import with kInvalid.
base::Status transfer_accounts(const AccountTransfer& transfer, const StoreConfig& store_config);

}  // namespace authserver
