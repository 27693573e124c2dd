#include "authserver/stores/sqlite_database.h"

#include "base/clock.h"

namespace authserver::sqlite {

namespace {

using base::Error;
using base::ErrorCode;

ErrorCode code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_CANTOPEN: return ErrorCode::kUnavailable;
    default: return ErrorCode::kInternal;
  }
}

// Waits while another connection writes; 0 gives up. SQLite's own handler sleeps longer the longer
// it has waited, up to 100 ms at a time, though a write takes less than a millisecond. With it one
// request in a thousand waited for a second.
int wait_for_writer(void* timeout_ms, int waits_so_far) {
  constexpr int kWaitMs = 1;
  if (waits_so_far * kWaitMs >= *static_cast<const std::int64_t*>(timeout_ms)) return 0;
  base::pause_ms(kWaitMs);
  return 1;
}

// SQLite's own text does not say why the file cannot be opened.
Error open_error(sqlite3* database, const std::string& path) {
  const int errno_value = database == nullptr ? 0 : ::sqlite3_system_errno(database);
  if (errno_value == 0) return error_of(database, "open " + path);
  return base::errno_error(code_of(::sqlite3_extended_errcode(database)), "open " + path,
                           errno_value);
}

// Makes SQLite sync its write-ahead log with each commit. Fails for a database that has no such
// log, because it is in memory only.
base::Status make_durable(sqlite3* database, const std::string& path) {
  sqlite3_stmt* raw = nullptr;
  const int prepared = ::sqlite3_prepare_v2(database, "PRAGMA journal_mode=WAL", -1, &raw, nullptr);
  const Statement statement(raw);
  if (prepared != SQLITE_OK) return error_of(database, "set up " + path);
  const Running running(raw);
  if (running.step() != SQLITE_ROW) return error_of(database, "set up " + path);
  if (const auto mode = running.column(0); mode != "wal") {
    return Error{ErrorCode::kInternal, "set up " + path +
                                           ": the accounts would not be on disk, because SQLite's "
                                           "journal_mode is " +
                                           std::string(mode) + " and not wal"};
  }
  // Each thread has a connection, and forgets the pages that it keeps when another one writes. So
  // 256 KiB of them are enough, instead of 2 MB.
  //
  // 4,000 pages of the log, which are 16 MB, are copied into the database at once, not 1,000.
  // Accounts lie all over the database, so most of its pages change again before they are copied.
  // Readers do not notice, because SQLite has one table of hashes for 4,096 pages of the log.
  const int code = ::sqlite3_exec(database,
                                  "PRAGMA synchronous=FULL; PRAGMA cache_size=-256;"
                                  "PRAGMA wal_autocheckpoint=4000",
                                  nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? base::Status(base::kDone) : error_of(database, "set up " + path);
}

}  // namespace

// The statistics would take one mutex of the process for each piece of memory that SQLite
// allocates.
void configure() {
  [[maybe_unused]] static const int done = ::sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

base::Result<Database> open(const std::string& path, const std::int64_t& timeout_ms,
                            int more_flags) {
  sqlite3* raw = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | more_flags;
  const int code = ::sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Database database(raw);
  if (code != SQLITE_OK) return open_error(raw, path);
  ::sqlite3_busy_handler(raw, wait_for_writer, const_cast<std::int64_t*>(&timeout_ms));
  if (const auto durable = make_durable(raw, path); !durable) return durable.error();
  return database;
}

bool has_moved(sqlite3* database) {
  int moved = 0;
  const int code = ::sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return code != SQLITE_OK || moved != 0;
}

Error error_of(sqlite3* database, const std::string& what) {
  const int code = ::sqlite3_extended_errcode(database);
  return {code_of(code), what + ": " + ::sqlite3_errmsg(database)};
}

base::Result<Statement> prepare(sqlite3* database, const char* sql) {
  sqlite3_stmt* raw = nullptr;
  const int code =
      ::sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return error_of(database, "prepare");
  return Statement(raw);
}

}  // namespace authserver::sqlite
