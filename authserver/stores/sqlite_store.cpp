#include "authserver/stores/sqlite_store.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "base/log.h"
#include "flags/values.h"
#include "sql/sqlite.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

// kUnavailable for what may pass with time, such as a lock or a full disk, else kInternal.
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

Error error_of(sqlite3* database, const std::string& what) {
  const int code = ::sqlite3_extended_errcode(database);
  return {code_of(code), what + ": " + ::sqlite3_errmsg(database)};
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

struct CloseDatabase {
  void operator()(sqlite3* database) const { ::sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { ::sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

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
  const int code = ::sqlite3_exec(database, "PRAGMA synchronous=FULL", nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? base::Status(base::kDone) : error_of(database, "set up " + path);
}

// `more_flags` are added to how SQLite opens the file. `timeout_ms` must outlive the database.
base::Result<Database> open_database(const std::string& path, const std::int64_t& timeout_ms,
                                     int more_flags = 0) {
  sqlite3* raw = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | more_flags;
  const int code = ::sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Database database(raw);
  if (code != SQLITE_OK) return error_of(raw, "open " + path);
  ::sqlite3_busy_handler(raw, wait_for_writer, const_cast<std::int64_t*>(&timeout_ms));
  if (const auto durable = make_durable(raw, path); !durable) return durable.error();
  return database;
}

// Whether the file that the database works on is no longer at its path.
bool has_moved(sqlite3* database) {
  int moved = 0;
  const int code = ::sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return code != SQLITE_OK || moved != 0;
}

class SqliteStore : public AccountStore {
 public:
  SqliteStore(const std::string& path, const StoreLimits& limits)
      : path_(path), timeout_ms_(limits.timeout_ms) {}

  // Opens the file unless it is open. Never creates it.
  base::Status open();

  base::Status create(const Account& account) override;
  base::Result<std::string> find_record(std::string_view user) override;
  base::Status ping() override;
  base::Status for_each(const std::function<void(const Account&)>& visit) override;
  void disconnect() override;

 private:
  base::Status insert(const Account& account);

  // The statement, prepared on its first use. Borrowed from `statement`.
  base::Result<sqlite3_stmt*> prepared(Statement& statement, const char* sql);

  const std::string path_;
  const std::int64_t timeout_ms_;
  Database database_;  // null after disconnect()
  Statement insert_;   // prepared when first needed; destroyed before the database
  Statement select_;
};

base::Status SqliteStore::open() {
  if (database_ != nullptr) return base::kDone;
  auto database = open_database(path_, timeout_ms_);
  if (!database) return database.error();
  database_ = std::move(*database);
  return base::kDone;
}

void SqliteStore::disconnect() {
  insert_.reset();
  select_.reset();
  database_.reset();
}

base::Status SqliteStore::create(const Account& account) {
  auto inserted = insert(account);
  // Somebody may have removed or replaced the file since it was opened. What was written into it is
  // lost then. The next request opens what is at the path by now.
  if (inserted && has_moved(database_.get())) {
    disconnect();
    return Error{ErrorCode::kUnavailable, path_ + " was removed or replaced"};
  }
  return inserted;
}

base::Status SqliteStore::insert(const Account& account) {
  const auto insert = prepared(insert_, "INSERT INTO accounts (name, record) VALUES (?1, ?2)");
  if (!insert) return insert.error();
  const Running running(*insert);
  running.bind(1, account.user);
  running.bind(2, account.record);
  if (running.step() == SQLITE_DONE) return base::kDone;
  if ((::sqlite3_errcode(database_.get()) & 0xff) == SQLITE_CONSTRAINT)
    return Error{ErrorCode::kExists, "the user exists"};
  return error_of(database_.get(), "insert");
}

base::Result<std::string> SqliteStore::find_record(std::string_view user) {
  const auto select = prepared(select_, "SELECT record FROM accounts WHERE name = ?1");
  if (!select) return select.error();
  const Running running(*select);
  running.bind(1, user);
  switch (running.step()) {
    case SQLITE_ROW: return std::string(running.column(0));
    case SQLITE_DONE: return Error{ErrorCode::kNotFound, "no such user"};
    default: return error_of(database_.get(), "select");
  }
}

base::Status SqliteStore::ping() {
  const auto found = find_record("");
  if (found || found.error().code == ErrorCode::kNotFound) return base::kDone;
  return found.error();
}

base::Status SqliteStore::for_each(const std::function<void(const Account&)>& visit) {
  Statement all;
  const auto select = prepared(all, "SELECT name, record FROM accounts");
  if (!select) return select.error();
  const Running running(*select);
  int code = 0;
  while ((code = running.step()) == SQLITE_ROW) visit({running.column(0), running.column(1)});
  return code == SQLITE_DONE ? base::Status(base::kDone)
                             : base::Status(error_of(database_.get(), "select"));
}

base::Result<sqlite3_stmt*> SqliteStore::prepared(Statement& statement, const char* sql) {
  if (const auto opened = open(); !opened) return opened.error();
  if (statement == nullptr) {
    sqlite3_stmt* raw = nullptr;
    if (::sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr) !=
        SQLITE_OK) {
      return error_of(database_.get(), "prepare");
    }
    statement.reset(raw);
  }
  return statement.get();
}

void warn_if_others_may_read(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & S_IROTH) == 0) return;
  base::log::warn("the accounts can be read by others path={} hint=\"chmod o-r\"", path);
}

}  // namespace

void SqliteBackend::declare_flags(flags::App& app) {
  flags::add_path(app, "--sqlite-path", options_.path, "the SQLite file with the accounts")
      ->capture_default_str();
}

// SQLite keeps further files beside the database, and resolves links first.
guard::Allowed SqliteBackend::needs() const {
  std::error_code ignored;
  const auto path = std::filesystem::absolute(options_.path, ignored);
  const auto file = std::filesystem::weakly_canonical(path, ignored);
  guard::Allowed allowed;
  if (file.has_parent_path()) allowed.writable.push_back(file.parent_path());
  return allowed;
}

base::Status SqliteBackend::prepare(const StoreLimits& limits) const {
  const auto database = open_database(options_.path, limits.timeout_ms, SQLITE_OPEN_CREATE);
  if (!database) return database.error();
  // Writes even if the table exists, so that a file that cannot be written is reported now and not
  // to the first client.
  const std::string statements =
      std::string("BEGIN IMMEDIATE;") + sql::kSqlite + "; PRAGMA user_version=1; COMMIT;";
  if (::sqlite3_exec(database->get(), statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return error_of(database->get(), "write to " + options_.path);
  }
  warn_if_others_may_read(options_.path);
  base::log::info(
      "accounts store=sqlite path={} durable=\"on disk before OK (WAL, synchronous=FULL)\"",
      options_.path);
  return base::kDone;
}

std::string SqliteBackend::where() const { return "sqlite " + options_.path; }

base::Result<std::unique_ptr<AccountStore>> SqliteBackend::open(const StoreLimits& limits) const {
  auto store = std::make_unique<SqliteStore>(options_.path, limits);
  if (const auto opened = store->open(); !opened) return opened.error();
  return std::unique_ptr<AccountStore>(std::move(store));
}

}  // namespace authserver
