// SQLite's interface with owners, and with our errors.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace authserver::sqlite {

struct CloseDatabase {
  void operator()(sqlite3* database) const { ::sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { ::sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

// Sets up the library for the whole process. Must be called before anything else of it; later calls
// do nothing.
void configure();

// Opens the file; a commit returns after it is on disk. A request waits `timeout_ms` for another
// connection that writes, then fails. `more_flags` are added to how SQLite opens the file, and
// `timeout_ms` must outlive the database. Fails for a database that is in memory only.
base::Result<Database> open(const std::string& path, const std::int64_t& timeout_ms,
                            int more_flags = 0);

// Whether the file that the database works on is no longer at its path.
bool has_moved(sqlite3* database);

// Of the last call that failed. kUnavailable for what may pass with time, such as a lock or a full
// disk, else kInternal. `what` was tried.
base::Error error_of(sqlite3* database, const std::string& what);

// A statement that is executed many times. It must be destroyed before the database.
base::Result<Statement> prepare(sqlite3* database, const char* sql);

// One execution of a prepared statement. Resets the statement at its end, which releases its locks
// and lets it be used again.
class Running {
 public:
  explicit Running(sqlite3_stmt* statement) : statement_(statement) {}
  ~Running() {
    ::sqlite3_reset(statement_);
    ::sqlite3_clear_bindings(statement_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // `bytes` must outlive this execution.
  void bind(int index, std::string_view bytes) const {
    ::sqlite3_bind_blob(statement_, index, bytes.data(), static_cast<int>(bytes.size()),
                        SQLITE_STATIC);
  }
  int step() const { return ::sqlite3_step(statement_); }

  // Valid until the next step.
  std::string_view column(int index) const {
    const void* const bytes = ::sqlite3_column_blob(statement_, index);
    return {static_cast<const char*>(bytes),
            static_cast<std::size_t>(::sqlite3_column_bytes(statement_, index))};
  }

 private:
  sqlite3_stmt* statement_;
};

}  // namespace authserver::sqlite
