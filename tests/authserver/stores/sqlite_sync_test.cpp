// Whether an account in SQLite is on the disk before it is acknowledged.
#include <sqlite3.h>

#include <deque>

#include "authserver/stores/sqlite_store.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace {

// Counts how often SQLite syncs a file, while it lives. One at a time; main thread only.
class SyncCounter {
 public:
  SyncCounter() {
    original_ = ::sqlite3_vfs_find(nullptr);
    counting_ = *original_;
    counting_.zName = "counting";
    counting_.xOpen = open;
    ::sqlite3_vfs_register(&counting_, 1);
  }
  ~SyncCounter() {
    ::sqlite3_vfs_register(original_, 1);
    ::sqlite3_vfs_unregister(&counting_);
  }
  SyncCounter(const SyncCounter&) = delete;
  SyncCounter& operator=(const SyncCounter&) = delete;

  int count() const { return count_; }

 private:
  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    const int code = original_->xOpen(original_, name, file, flags, out_flags);
    if (file->pMethods == nullptr) return code;
    original_sync_ = file->pMethods->xSync;
    methods_.push_back(*file->pMethods);
    methods_.back().xSync = [](sqlite3_file* synced, int how) {
      ++count_;
      return original_sync_(synced, how);
    };
    file->pMethods = &methods_.back();
    return code;
  }

  static inline sqlite3_vfs* original_ = nullptr;
  static inline sqlite3_vfs counting_;
  static inline std::deque<sqlite3_io_methods> methods_;
  static inline int (*original_sync_)(sqlite3_file*, int) = nullptr;
  static inline int count_ = 0;
};

}  // namespace

TEST_CASE("SQLite syncs its log for each account before it is acknowledged", "[stores]") {
  const tests::TemporaryFolder folder;
  const authserver::SqliteBackend backend({.path = folder.path("accounts.db")});
  const SyncCounter syncs;
  REQUIRE(backend.prepare({}));
  const auto store = backend.open({});
  REQUIRE(store);
  for (const char* user : {"amy", "bob", "cid"}) {
    const int before = syncs.count();
    REQUIRE((*store)->create({user, "$plain$pw"}));
    CHECK(syncs.count() > before);
  }
}
