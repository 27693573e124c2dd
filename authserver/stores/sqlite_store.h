// Accounts in an SQLite file, in the table of sql/sqlite.sql: the embedded store.
#pragma once

#include <string>

#include "authserver/stores/commit_queue.h"
#include "authserver/stores/store_backend.h"
#include "serve/shared_memory.h"

namespace authserver {

struct SqliteOptions {
  std::string path = "accounts.db";  // of the file
};

// Durable: WAL with synchronous=FULL, so create() returns after the write-ahead log has reached the
// disk. Those who create accounts at the same time, in all threads and processes of this program,
// share one commit. Before create() returns it is checked that the file is still at its path.
// prepare() creates the file if it is missing, and refuses a database that is in memory only.
// open() creates nothing.
class SqliteBackend : public StoreBackend {
 public:
  explicit SqliteBackend(SqliteOptions options = {});

  void declare_flags(flags::App& app) override;
  guard::Allowed needs(const StoreLimits& limits) const override;
  base::Status prepare(const StoreLimits& limits) const override;
  bool is_there() const override;
  std::string where() const override;
  base::Result<std::unique_ptr<AccountStore>> open(const StoreLimits& limits) const override;

 private:
  SqliteOptions options_;
  const serve::Shared<CommitQueue> commits_;
};

}  // namespace authserver
