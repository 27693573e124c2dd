// Accounts in MySQL or MariaDB: sql/mysql.sql.
#pragma once

#include <memory>

#include "authserver/stores/account_store.h"
#include "authserver/stores/mysql_link.h"
#include "authserver/stores/store_config.h"

namespace authserver {

// Durable: InnoDB, autocommit: create() returns after the commit. Connects with the first request,
// and again when the connection was lost.
class MysqlStore : public AccountStore {
 public:
  explicit MysqlStore(const StoreConfig& config);

  static base::Status prepare(const StoreConfig& config);

  base::Status create(const Account& account) override;
  base::Result<std::string> find_record(std::string_view user) override;
  base::Status ping() override;
  base::Status for_each(const std::function<void(const Account&)>& visit) override;

 private:
  base::Result<std::string> find_once(std::string_view user);

  const StoreConfig& config_;
  MysqlLink link_;
  MysqlStatement insert_;
  MysqlStatement select_;
};

}  // namespace authserver
