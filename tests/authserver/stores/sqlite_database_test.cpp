#include "authserver/stores/sqlite_database.h"

#include "authserver/stores/sqlite_store.h"
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
