#include "authserver/account_task.h"

#include "authserver/account_changes.h"
#include "authserver/account_transfer.h"

namespace authserver {

base::Status carry_out(const AccountTask& task, const StoreConfig& store_config, Scheme scheme) {
  auto opened = store_config.open();
  if (!opened) return opened.error();
  AccountStore& store = **opened;
  switch (task.kind) {
    case AccountTask::Kind::kExport: return export_accounts(store, task.operand);
    case AccountTask::Kind::kImport: return import_accounts(store, task.operand);
    case AccountTask::Kind::kList: return list_users(store, task.operand);
    case AccountTask::Kind::kAdd: return add_account(store, task.operand, scheme);
    case AccountTask::Kind::kRemove: return remove_account(store, task.operand);
    case AccountTask::Kind::kSetPassword: return set_password(store, task.operand, scheme);
    case AccountTask::Kind::kNone: break;
  }
  return base::kDone;
}

}  // namespace authserver
