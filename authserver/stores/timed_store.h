// Records how long each operation of a store takes.
#pragma once

#include <memory>

#include "authserver/stores/account_store.h"

namespace authserver {

// Returns a store that passes each call on to `store` and records its time, whether it succeeds or
// not (telemetry::Timed). It belongs to the same thread or process.
std::unique_ptr<AccountStore> timed(std::unique_ptr<AccountStore> store);

}  // namespace authserver
