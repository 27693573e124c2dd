// Whether an account in SQLite is on the disk before it is acknowledged.
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <atomic>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "authserver/stores/sqlite_store.h"
#include "base/clock.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace {

// Counts how often SQLite syncs a file, while it lives, and can let the syncs wait. One at a time.
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

  static int count() { return count_; }

  // Whether further syncs wait.
  static void hold(bool is_held) { is_held_ = is_held; }
  static int waiting() { return waiting_; }

 private:
  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    const int code = original_->xOpen(original_, name, file, flags, out_flags);
    if (file->pMethods == nullptr) return code;
    const std::lock_guard lock(mutex_);
    original_sync_ = file->pMethods->xSync;
    methods_.push_back(*file->pMethods);
    methods_.back().xSync = [](sqlite3_file* synced, int how) {
      ++count_;
      ++waiting_;
      while (is_held_) std::this_thread::yield();
      --waiting_;
      return original_sync_(synced, how);
    };
    file->pMethods = &methods_.back();
    return code;
  }

  static inline sqlite3_vfs* original_ = nullptr;
  static inline sqlite3_vfs counting_;
  static inline std::mutex mutex_;
  static inline std::deque<sqlite3_io_methods> methods_;
  static inline int (*original_sync_)(sqlite3_file*, int) = nullptr;
  static inline std::atomic<int> count_ = 0;
  static inline std::atomic<int> waiting_ = 0;
  static inline std::atomic<bool> is_held_ = false;
};

constexpr int kThreads = 4;

// Each thread creates an account on a connection of its own. Calls `meanwhile`, and returns how
// many were told OK. Any other answer must be kUnavailable.
template <typename Meanwhile>
int create_together(const authserver::SqliteBackend& backend, std::atomic<int>& returned,
                    const Meanwhile& meanwhile) {
  std::atomic<int> created = 0;
  std::atomic<int> failed = 0;
  std::vector<std::unique_ptr<authserver::AccountStore>> stores;
  for (int i = 0; i < kThreads; ++i) {
    auto store = backend.open({.timeout_ms = 60'000});
    REQUIRE(store);
    stores.push_back(std::move(*store));
  }
  std::vector<std::thread> threads;
  for (const auto& store : stores) {
    threads.emplace_back([&, user = "user" + std::to_string(threads.size())] {
      const auto done = store->create({user, "$plain$pw"});
      ++returned;
      if (done) ++created;
      if (!done && done.error().code == base::ErrorCode::kUnavailable) ++failed;
    });
  }
  meanwhile();
  for (std::thread& thread : threads) thread.join();
  CHECK(created + failed == kThreads);
  return created;
}

}  // namespace

TEST_CASE("SQLite syncs its log for each change before it is acknowledged", "[stores]") {
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
  const int before_replacing = syncs.count();
  REQUIRE((*store)->replace({"amy", "$plain$other"}));
  CHECK(syncs.count() > before_replacing);
  const int before_removing = syncs.count();
  REQUIRE((*store)->remove("amy"));
  CHECK(syncs.count() > before_removing);
}

TEST_CASE("SQLite acknowledges no account of a shared commit before its log is synced",
          "[stores]") {
  const tests::TemporaryFolder folder;
  const authserver::SqliteBackend backend({.path = folder.path("accounts.db")});
  const SyncCounter syncs;
  REQUIRE(backend.prepare({}));
  const auto store = backend.open({});
  REQUIRE((*store)->create({"amy", "$plain$pw"}));  // the log has been made and synced
  std::atomic<int> returned = 0;
  SyncCounter::hold(true);
  const int created = create_together(backend, returned, [&] {
    while (SyncCounter::waiting() == 0) std::this_thread::yield();
    base::pause_ms(20);
    CHECK(returned == 0);
    SyncCounter::hold(false);
  });
  CHECK(created == kThreads);
}

TEST_CASE("if SQLite cannot write its log, no account of a shared commit is acknowledged",
          "[stores]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path("accounts.db");
  const authserver::SqliteBackend backend({.path = path});
  REQUIRE(backend.prepare({}));
  const auto store = backend.open({});
  REQUIRE((*store)->create({"amy", "$plain$pw"}));

  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto ignored = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{std::filesystem::file_size(path + "-wal"), before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &full) == 0);
  std::atomic<int> returned = 0;
  const int created = create_together(backend, returned, [] {});
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  ::signal(SIGXFSZ, ignored);

  CHECK(created == 0);
  CHECK((*store)->find_record("user0").error().code == base::ErrorCode::kNotFound);
  CHECK(create_together(backend, returned, [] {}) == kThreads);
}

TEST_CASE("no account of a shared commit in an SQLite file that was removed is acknowledged",
          "[stores]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path("accounts.db");
  const authserver::SqliteBackend backend({.path = path});
  const SyncCounter syncs;
  REQUIRE(backend.prepare({}));
  const auto store = backend.open({});
  REQUIRE((*store)->create({"amy", "$plain$pw"}));
  std::atomic<int> returned = 0;
  SyncCounter::hold(true);
  const int created = create_together(backend, returned, [&] {
    while (SyncCounter::waiting() == 0) std::this_thread::yield();
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
    SyncCounter::hold(false);
  });
  CHECK(created == 0);
}
