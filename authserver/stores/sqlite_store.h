// Accounts in an SQLite file: the embedded store.
#pragma once

#include <sqlite3.h>

#include <memory>

#include "authserver/stores/account_store.h"
#include "authserver/stores/store_config.h"

namespace authserver {

// Durable: WAL with synchronous=FULL, so create() returns after the write-ahead log has reached the
// disk.
class SqliteStore : public AccountStore {
 public:
  // Makes the file and its table where they are missing; for the other stores' contract see open.h.
  static base::Status prepare(const StoreConfig& config);
  static base::Result<std::unique_ptr<AccountStore>> open(const StoreConfig& config);

  base::Status create(const Account& account) override;
  base::Result<std::string> find_record(std::string_view user) override;
  base::Status ping() override;
  base::Status for_each(const std::function<void(const Account&)>& visit) override;

 private:
  struct CloseDatabase {
    void operator()(sqlite3* database) const { ::sqlite3_close_v2(database); }
  };
  struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const { ::sqlite3_finalize(statement); }
  };
  using Database = std::unique_ptr<sqlite3, CloseDatabase>;
  using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

  SqliteStore() = default;
  static base::Result<Database> open_database(const StoreConfig& config);
  base::Result<sqlite3_stmt*> prepared(Statement& statement, const char* sql);

  Database database_;
  Statement insert_;  // statements are prepared when first needed; they end before the database
  Statement select_;
};

}  // namespace authserver
