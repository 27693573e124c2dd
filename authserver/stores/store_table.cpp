#include "authserver/stores/store_backend.h"

#include "authserver/stores/mysql_store.h"
#include "authserver/stores/redis_store.h"
#include "authserver/stores/sqlite_store.h"

namespace authserver {

std::vector<NamedBackend> make_store_backends() {
  std::vector<NamedBackend> table;
  table.push_back({"sqlite", std::make_unique<SqliteBackend>()});
  table.push_back({"mysql", std::make_unique<MysqlBackend>()});
  table.push_back({"redis", std::make_unique<RedisBackend>()});
  return table;
}

}  // namespace authserver
