#include "authserver/stores/open.h"

#include "authserver/stores/mysql_store.h"
#include "authserver/stores/redis_store.h"
#include "authserver/stores/sqlite_store.h"

namespace authserver {

base::Status prepare_store(const StoreConfig& config) {
  switch (config.kind) {
    case StoreKind::kSqlite: return SqliteStore::prepare(config);
    case StoreKind::kMysql: return MysqlStore::prepare(config);
    case StoreKind::kRedis: return RedisStore::prepare(config);
  }
  return base::Error{base::ErrorCode::kInternal, "no such store"};
}

base::Result<std::unique_ptr<AccountStore>> open_store(const StoreConfig& config) {
  switch (config.kind) {
    case StoreKind::kSqlite: return SqliteStore::open(config);
    case StoreKind::kMysql: return std::unique_ptr<AccountStore>(new MysqlStore(config));
    case StoreKind::kRedis: return std::unique_ptr<AccountStore>(new RedisStore(config));
  }
  return base::Error{base::ErrorCode::kInternal, "no such store"};
}

}  // namespace authserver
