#include "authserver/stores/sqlite_database.h"

#include <fstream>
#include <future>
#include <string>
#include <utility>

#include "authserver/stores/sqlite_store.h"
#include "base/clock.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace authserver;

TEST_CASE("SQLite keeps no statistics of its memory, which would take a mutex", "[stores]") {
  const tests::TemporaryFolder folder;
  const SqliteBackend backend({.path = folder.path("accounts.db")});
  REQUIRE(backend.prepare({}));
  const auto store = backend.open({});
  REQUIRE(store);
  CHECK(::sqlite3_memory_used() == 0);
}

TEST_CASE("a connection to SQLite keeps few pages in memory", "[stores]") {
  constexpr std::int64_t kTimeoutMs = 2'000;
  const tests::TemporaryFolder folder;
  const auto database = sqlite::open(folder.path("accounts.db"), kTimeoutMs, SQLITE_OPEN_CREATE);
  REQUIRE(database);
  REQUIRE(::sqlite3_exec(database->get(),
                         "CREATE TABLE numbers (bytes BLOB); WITH RECURSIVE n(i) AS (SELECT 1 "
                         "UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
                         "INSERT INTO numbers SELECT zeroblob(2000) FROM n",
                         nullptr, nullptr, nullptr) == SQLITE_OK);
  int used_bytes = 0;
  int most_bytes = 0;
  ::sqlite3_db_status(database->get(), SQLITE_DBSTATUS_CACHE_USED, &used_bytes, &most_bytes, 0);
  CHECK(used_bytes > 100'000);
  CHECK(used_bytes < 400'000);
}

TEST_CASE("the log of SQLite is copied into the database when it has 4,000 pages", "[stores]") {
  const tests::TemporaryFolder folder;
  const auto database = sqlite::open(folder.path("accounts.db"), 2'000, SQLITE_OPEN_CREATE);
  REQUIRE(database);
  const auto pages = sqlite::prepare(database->get(), "PRAGMA wal_autocheckpoint");
  REQUIRE(pages);
  REQUIRE(::sqlite3_step(pages->get()) == SQLITE_ROW);
  CHECK(::sqlite3_column_int(pages->get(), 0) == 4000);
}

TEST_CASE("the accounts of a damaged SQLite file are not taken for all of them", "[stores]") {
  constexpr int kAccounts = 2000;
  const tests::TemporaryFolder folder;
  const std::string path = folder.path("accounts.db");
  const SqliteBackend backend({.path = path});
  REQUIRE(backend.prepare({}));
  {
    const auto database = sqlite::open(path, 2'000);
    REQUIRE(database);
    REQUIRE(::sqlite3_exec(database->get(),
                           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
                           "i < 2000) INSERT INTO accounts (name, record) "
                           "SELECT 'user' || i, '$plain$' || hex(randomblob(40)) FROM n",
                           nullptr, nullptr, nullptr) == SQLITE_OK);
  }
  const auto visited = [&] {
    const auto store = backend.open({});
    REQUIRE(store);
    int count = 0;
    const auto done = (*store)->for_each([&count](const Account&) { ++count; });
    return done ? count : -1;
  };
  CHECK(visited() == kAccounts);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(20 * 4096);
    file << std::string(4096, '\xff');
  }
  CHECK(visited() == -1);
}

namespace {

void run(sqlite3* database, const char* sql) {
  REQUIRE(::sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
}

}  // namespace

// The second account waits behind the first one. When it may begin, little of its time is left.
TEST_CASE("a request waits its whole time for SQLite after one whose time was nearly over",
          "[stores]") {
  constexpr std::int64_t kTimeoutMs = 2'000;
  constexpr std::int64_t kNearlyOverMs = 1'500;
  const tests::TemporaryFolder folder;
  const std::string path = folder.path("accounts.db");
  const SqliteBackend backend({.path = path});
  REQUIRE(backend.prepare({}));
  auto first = std::move(*backend.open({.timeout_ms = kNearlyOverMs}));
  auto second = std::move(*backend.open({.timeout_ms = kTimeoutMs}));
  {
    const auto writer = sqlite::open(path, kTimeoutMs);
    REQUIRE(writer);
    run(writer->get(), "BEGIN IMMEDIATE");
    auto leading = std::async(std::launch::async, [&] { return first->create({"amy", "pw"}); });
    base::pause_ms(20);
    CHECK_FALSE(second->create({"bob", "pw"}));
    CHECK_FALSE(leading.get());
  }
  first->disconnect();
  second->disconnect();
  auto only = sqlite::open(path, kTimeoutMs);
  REQUIRE(only);
  run(only->get(), "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE");
  auto found = std::async(std::launch::async, [&] { return second->find_record("bob"); });
  base::pause_ms(800);  // longer than the second one waited
  only->reset();
  CHECK(found.get().error().code == base::ErrorCode::kNotFound);
}
