// Moves accounts into and out of a store, so that changing the store loses nobody: authserver
// --export and --import.
#pragma once

#include "authserver/config.h"
#include "base/result.h"

namespace authserver {

// Requires: move.is_wanted(). What was done is told on standard error. An import goes on past an
// account that is already there: with the same record it is fine, with another it is kept as it is,
// and the import fails at its end. Importing the same file again does no harm. An export leaves the
// file that was there until the new one is whole.
base::Status move_accounts(const Move& move, const StoreConfig& store_config);

}  // namespace authserver
