#include "authserver/stores/sqlite_store.h"

#include <filesystem>
#include <initializer_list>
#include <system_error>

#include "authserver/stores/sqlite_database.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "base/log.h"
#include "flags/values.h"
#include "guard/user.h"
#include "sql/sqlite.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;
using sqlite::Running;
using sqlite::Statement;

class SqliteStore : public AccountStore, private AccountTransaction {
 public:
  SqliteStore(const std::string& path, const StoreLimits& limits, CommitQueue& commits)
      : path_(path),
        timeout_ms_(limits.timeout_ms),
        wait_for_writer_ms_(limits.timeout_ms),
        commits_(commits) {}

  // Opens the file unless it is open. Never creates it.
  base::Status open();

  base::Status create(const Account& account) override;
  base::Status replace(const Account& account) override;
  base::Status remove(std::string_view user) override;
  base::Status replace_if(const Account& account, std::string_view before) override;
  base::Result<std::string> find_record(std::string_view user) override;
  std::vector<base::Result<std::string>> find_records(
      std::span<const std::string_view> users) override;
  base::Status ping() override;
  base::Status for_each(const std::function<void(const Account&)>& visit) override;
  bool is_connected() const override { return database_ != nullptr; }
  void disconnect() override;

 private:
  base::Status begin(std::int64_t deadline_ns) override;
  base::Status insert(const Account& account) override;
  base::Status commit() override;
  void cancel() override;

  // Carries out a statement on one account, in a transaction of its own. kNotFound if it changed
  // none.
  base::Status change(const char* sql, std::initializer_list<std::string_view> parameters);
  base::Status change_in_transaction(const char* sql,
                                     std::initializer_list<std::string_view> parameters);

  // Carries out a statement without parameters and rows.
  base::Status run(Statement& statement, const char* sql);

  // The statement, prepared on its first use. Borrowed from `statement`.
  base::Result<sqlite3_stmt*> prepared(Statement& statement, const char* sql);

  const std::string path_;
  const std::int64_t timeout_ms_;
  std::int64_t wait_for_writer_ms_;
  CommitQueue& commits_;
  sqlite::Database database_;  // null after disconnect()
  Statement begin_write_;      // prepared when first needed; destroyed before the database
  Statement begin_read_;
  Statement insert_;
  Statement select_;
  Statement commit_;
};

base::Status SqliteStore::open() {
  if (database_ != nullptr) return base::kDone;
  auto database = sqlite::open(path_, wait_for_writer_ms_);
  if (!database) return database.error();
  database_ = std::move(*database);
  return base::kDone;
}

void SqliteStore::disconnect() {
  begin_write_.reset();
  begin_read_.reset();
  insert_.reset();
  select_.reset();
  commit_.reset();
  database_.reset();
}

base::Status SqliteStore::create(const Account& account) {
  return commits_.create(account, *this, base::now_ns() + timeout_ms_ * base::kNsPerMs);
}

base::Status SqliteStore::replace(const Account& account) {
  return change("UPDATE accounts SET record = ?2 WHERE name = ?1", {account.user, account.record});
}

base::Status SqliteStore::remove(std::string_view user) {
  return change("DELETE FROM accounts WHERE name = ?1", {user});
}

// Somebody may have written a record by hand, as text.
base::Status SqliteStore::replace_if(const Account& account, std::string_view before) {
  return change("UPDATE accounts SET record = ?2 WHERE name = ?1 AND CAST(record AS BLOB) = ?3",
                {account.user, account.record, before});
}

base::Status SqliteStore::change(const char* sql,
                                 std::initializer_list<std::string_view> parameters) {
  const std::int64_t deadline_ns = base::now_ns() + timeout_ms_ * base::kNsPerMs;
  if (const auto begun = begin(deadline_ns); !begun) return begun;
  CancelUnlessCommitted open(*this);
  auto changed = change_in_transaction(sql, parameters);
  if (changed) changed = commit();
  if (changed) open.committed();
  return changed;
}

base::Status SqliteStore::change_in_transaction(
    const char* sql, std::initializer_list<std::string_view> parameters) {
  Statement statement;
  const auto change = prepared(statement, sql);
  if (!change) return change.error();
  const Running running(*change);
  int number = 0;
  for (const std::string_view parameter : parameters) running.bind(++number, parameter);
  if (running.step() != SQLITE_DONE) return sqlite::error_of(database_.get(), sql);
  if (::sqlite3_changes(database_.get()) > 0) return base::kDone;
  return Error{ErrorCode::kNotFound, "no such user"};
}

base::Status SqliteStore::begin(std::int64_t deadline_ns) {
  wait_for_writer_ms_ = (deadline_ns - base::now_ns()) / base::kNsPerMs;
  auto begun = run(begin_write_, "BEGIN IMMEDIATE");
  wait_for_writer_ms_ = timeout_ms_;
  return begun;
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
  return sqlite::error_of(database_.get(), "insert");
}

base::Status SqliteStore::commit() {
  if (const auto committed = run(commit_, "COMMIT"); !committed) return committed;
  // Somebody may have removed or replaced the file since it was opened. What was written into it is
  // lost then. The next request opens what is at the path by now.
  if (!sqlite::has_moved(database_.get())) return base::kDone;
  disconnect();
  return Error{ErrorCode::kUnavailable, path_ + " was removed or replaced"};
}

// SQLite itself cancels a transaction after some errors. If it cannot be cancelled, closing the
// connection does so.
void SqliteStore::cancel() {
  if (database_ == nullptr || ::sqlite3_get_autocommit(database_.get()) != 0) return;
  if (::sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr) != SQLITE_OK)
    disconnect();
}

base::Status SqliteStore::run(Statement& statement, const char* sql) {
  const auto ready = prepared(statement, sql);
  if (!ready) return ready.error();
  const Running running(*ready);
  if (running.step() == SQLITE_DONE) return base::kDone;
  return sqlite::error_of(database_.get(), sql);
}

base::Result<std::string> SqliteStore::find_record(std::string_view user) {
  const auto select = prepared(select_, "SELECT record FROM accounts WHERE name = ?1");
  if (!select) return select.error();
  const Running running(*select);
  running.bind(1, user);
  switch (running.step()) {
    case SQLITE_ROW: return std::string(running.column(0));
    case SQLITE_DONE: return Error{ErrorCode::kNotFound, "no such user"};
    default: return sqlite::error_of(database_.get(), "select");
  }
}

// All users in one read transaction. So SQLite takes the lock of its log once, and not once for
// each.
std::vector<base::Result<std::string>> SqliteStore::find_records(
    std::span<const std::string_view> users) {
  // A transaction that stayed open would go on reading what the file holds now.
  CancelUnlessCommitted open(*this);
  const auto begun = run(begin_read_, "BEGIN");
  auto records = AccountStore::find_records(users);
  if (begun && run(commit_, "COMMIT")) open.committed();
  return records;
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
                             : base::Status(sqlite::error_of(database_.get(), "select"));
}

base::Result<sqlite3_stmt*> SqliteStore::prepared(Statement& statement, const char* sql) {
  if (const auto opened = open(); !opened) return opened.error();
  if (statement == nullptr) {
    auto prepared = sqlite::prepare(database_.get(), sql);
    if (!prepared) return prepared.error();
    statement = std::move(*prepared);
  }
  return statement.get();
}

// New accounts are in the second file until they are copied into the first one.
void warn_if_others_may_read(const std::string& path) {
  for (const std::string& one : {path, path + "-wal"}) {
    const auto mode = base::mode_open_to_others(one);
    if (!mode) continue;
    base::log::warn("the accounts can be read by others path={} mode={} hint=\"chmod o-r\"", one,
                    *mode);
  }
}

}  // namespace

SqliteBackend::SqliteBackend(SqliteOptions options) : options_(std::move(options)) {
  sqlite::configure();
}

void SqliteBackend::declare_flags(flags::App& app) {
  app.group("Basics");
  flags::add_path(app, "--sqlite-path", options_.path, "the SQLite file with the accounts")
      ->capture_default_str();
}

// SQLite keeps further files beside the database, and resolves links first.
guard::Allowed SqliteBackend::needs(const StoreLimits& /*limits*/) const {
  std::error_code ignored;
  const auto path = std::filesystem::absolute(options_.path, ignored);
  const auto file = std::filesystem::weakly_canonical(path, ignored);
  guard::Allowed allowed;
  if (file.has_parent_path()) allowed.writable.push_back(file.parent_path());
  allowed.calls.set_modes = true;  // SQLite gives the write-ahead log the mode of the accounts
  return allowed;
}

namespace {

// Names the user, whose rights are the usual reason why a file cannot be opened or written.
Error with_user(Error error) {
  error.context += " (as user " + guard::user_name() + ")";
  return error;
}

}  // namespace

base::Status SqliteBackend::prepare(const StoreLimits& limits) const {
  const auto database = sqlite::open(options_.path, limits.timeout_ms, SQLITE_OPEN_CREATE);
  if (!database) return with_user(database.error());
  // Writes even if the table exists, so that a file that cannot be written is reported now and not
  // to the first client.
  const std::string statements =
      std::string("BEGIN IMMEDIATE;") + sql::kSqlite + "; PRAGMA user_version=1; COMMIT;";
  if (::sqlite3_exec(database->get(), statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return with_user(sqlite::error_of(database->get(), "write to " + options_.path));
  }
  warn_if_others_may_read(options_.path);
  base::log::info(
      "accounts store=sqlite path={} durable=\"on disk before OK (WAL, synchronous=FULL)\"",
      options_.path);
  return base::kDone;
}

bool SqliteBackend::is_there() const {
  std::error_code unknown;  // open() says why a file cannot be looked at
  return std::filesystem::exists(options_.path, unknown) || unknown;
}

std::string SqliteBackend::where() const {
  std::error_code ignored;  // the name is then as it was given
  const auto path = std::filesystem::absolute(options_.path, ignored);
  return "sqlite " + (ignored ? options_.path : path.lexically_normal().string());
}

base::Result<std::unique_ptr<AccountStore>> SqliteBackend::open(const StoreLimits& limits) const {
  auto store = std::make_unique<SqliteStore>(options_.path, limits, *commits_);
  if (const auto opened = store->open(); !opened) return opened.error();
  return std::unique_ptr<AccountStore>(std::move(store));
}

}  // namespace authserver
