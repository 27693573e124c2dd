// What the authserver does with the accounts of a store instead of serving. Each kind of task has a
// flag, such as --export or --remove-account.
#pragma once

#include <string>

#include "authserver/passwords/scheme.h"
#include "authserver/stores/store_backend.h"
#include "base/result.h"

namespace authserver {

struct AccountTask {
  enum class Kind {
    kNone,
    kExport,
    kImport,
    kList,
    kAdd,
    kRemove,
    kSetPassword,
    kDisable,
    kEnable,
    kMakeAdmin,
    kUnmakeAdmin,
    kInvite
  };

  bool is_wanted() const { return kind != Kind::kNone; }

  // Whether what is missing of the store, such as its table, may be made for it. Any other task
  // would only make an empty store for a misspelt name.
  bool may_prepare_store() const { return kind == Kind::kImport || kind == Kind::kAdd; }

  // Whether a whole new store may be made for it. An import brings all accounts of a store. One
  // account goes into a store that is there, because a misspelt path would otherwise be a store.
  bool may_create_store() const { return kind == Kind::kImport || creates_store; }

  Kind kind = Kind::kNone;
  std::string operand;  // a file, where "-" is standard output or input, or the name of a user
  bool creates_store = false;  // --create-store
};

// Carries out the task and reports on standard error what was done, and in which store. New
// passwords are stored as `scheme` says. Servers may use the store meanwhile. Fails with kNotFound
// if the store is not there and the task may not create it. Requires: task.is_wanted().
base::Status carry_out(const AccountTask& task, const StoreConfig& store_config, Scheme scheme);

}  // namespace authserver
