#include "authserver/account_task.h"

#include "authserver/account_changes.h"
#include "authserver/account_transfer.h"

namespace authserver {

namespace {

// kNotFound if the task would have to make the store and may not.
base::Status check_store(const AccountTask& task, const StoreBackend& backend) {
  if (task.may_create_store() || backend.is_there()) return base::kDone;
  std::string why = "open " + backend.where() + ": there is no such file";
  if (task.kind == AccountTask::Kind::kAdd)
    why += "; an authserver makes it at its start, and so does --create-store";
  return base::Error{base::ErrorCode::kNotFound, why};
}

}  // namespace

base::Status carry_out(const AccountTask& task, const StoreConfig& store_config, Scheme scheme) {
  if (const auto is_there = check_store(task, *store_config.backend); !is_there) return is_there;
  if (task.may_prepare_store()) {
    if (const auto prepared = store_config.prepare(); !prepared) return prepared;
  }
  auto opened = store_config.open();
  if (!opened) return opened.error();
  AccountStore& store = **opened;
  const std::string where = store_config.backend->where();
  switch (task.kind) {
    case AccountTask::Kind::kExport: return export_accounts(store, where, task.operand);
    case AccountTask::Kind::kImport: return import_accounts(store, where, task.operand);
    case AccountTask::Kind::kList: return list_users(store, task.operand);
    case AccountTask::Kind::kAdd: return add_account(store, where, task.operand, scheme);
    case AccountTask::Kind::kRemove: return remove_account(store, where, task.operand);
    case AccountTask::Kind::kSetPassword: return set_password(store, where, task.operand, scheme);
    case AccountTask::Kind::kDisable: return set_disabled(store, where, task.operand, true);
    case AccountTask::Kind::kEnable: return set_disabled(store, where, task.operand, false);
    case AccountTask::Kind::kMakeAdmin: return set_admin(store, where, task.operand, true);
    case AccountTask::Kind::kUnmakeAdmin: return set_admin(store, where, task.operand, false);
    case AccountTask::Kind::kInvite: return print_link(store, where, task.operand);
    case AccountTask::Kind::kNone: break;
  }
  return base::kDone;
}

}  // namespace authserver
