// What the authserver does with the accounts of a store instead of serving. Each kind of task has a
// flag, such as --export or --remove-account.
#pragma once

#include <string>

#include "authserver/passwords/scheme.h"
#include "authserver/stores/store_backend.h"
#include "base/result.h"

namespace authserver {

struct AccountTask {
  enum class Kind { kNone, kExport, kImport, kList, kAdd, kRemove, kSetPassword };

  bool is_wanted() const { return kind != Kind::kNone; }

  // Whether the store may be made for it. Any other task would only make an empty store for a
  // misspelt name.
  bool may_make_store() const { return kind == Kind::kImport || kind == Kind::kAdd; }

  Kind kind = Kind::kNone;
  std::string operand;  // a file, where "-" is standard output or input, or the name of a user
};

// Carries out the task and reports on standard error what was done. New passwords are stored as
// `scheme` says. Servers may use the store meanwhile. Requires: task.is_wanted().
base::Status carry_out(const AccountTask& task, const StoreConfig& store_config, Scheme scheme);

}  // namespace authserver
