// The account stores that the tests can reach.
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

// All of them are prepared, so their tables exist. They live until the program ends.
const std::vector<ReachableStore>& reachable_stores();

// A name that no test has used before, not even in an earlier run on the same store.
std::string fresh_user();

}  // namespace tests
