// From a configuration to a store.
#pragma once

#include <memory>

#include "authserver/stores/account_store.h"
#include "authserver/stores/store_config.h"

namespace authserver {

// Makes the table where it is missing, and logs what durable means there. An error is why the store
// cannot be used.
base::Status prepare_store(const StoreConfig& config);

// For one thread or process. `config` must outlive the store.
base::Result<std::unique_ptr<AccountStore>> open_store(const StoreConfig& config);

}  // namespace authserver
