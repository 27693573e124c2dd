// The account stores that the tests can use now.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "authserver/stores/store_backend.h"

namespace tests {

struct ReachableStore {
  std::string name;
  std::unique_ptr<const authserver::StoreBackend> backend;
};

// Prepared: their tables are there.
const std::vector<ReachableStore>& reachable_stores();

// A name that no other test, and no other run on the same store, has used.
std::string fresh_user();

}  // namespace tests
