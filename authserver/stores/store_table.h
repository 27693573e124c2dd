// The table of all kinds of account stores.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "authserver/stores/store_backend.h"

namespace authserver {

struct NamedBackend {
  std::string name;  // as --store takes it
  std::unique_ptr<StoreBackend> backend;
};

// A new backend of each kind, with its defaults, in the order of --help. The first is the default
// of --store.
std::vector<NamedBackend> make_store_backends();

}  // namespace authserver
