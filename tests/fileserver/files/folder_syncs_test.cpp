#include "fileserver/files/folder_syncs.h"

#include <fcntl.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <latch>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "net/fd.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using fileserver::FolderSyncs;

namespace {

constexpr int kThreads = 8;
constexpr int kChanges = 50;  // of each thread

net::Fd open_path(const std::string& path) { return net::Fd(::open(path.c_str(), O_PATH)); }

// A folder that counts its changes and its syncs. A sync takes what had been changed before it
// began to the disk, or fails.
class CountedFolder {
 public:
  int sync() {
    const int changes = changes_;
    const int number = ++syncs_;
    if (++running_ > 1) ++overlaps_;
    base::pause_ms(1);
    --running_;
    if (has_failures && number % 2 == 0) return EIO;
    on_disk_ = changes;
    return 0;
  }
  int change() { return ++changes_; }
  bool has_on_disk(int change) const { return on_disk_ >= change; }
  int syncs() const { return syncs_; }
  int overlaps() const { return overlaps_; }

  bool has_failures = false;

 private:
  std::atomic<int> changes_ = 0;
  std::atomic<int> on_disk_ = 0;
  std::atomic<int> syncs_ = 0;
  std::atomic<int> running_ = 0;
  std::atomic<int> overlaps_ = 0;
};

struct Tally {
  std::atomic<int> lost = 0;    // true was returned too early
  std::atomic<int> failed = 0;  // false was returned
};

// Many threads change the folder and sync it.
void change_and_sync(CountedFolder& folder, Tally& tally) {
  const tests::TemporaryFolder place;
  FolderSyncs syncs([&](int) { return folder.sync(); });
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const net::Fd fd = open_path(place.path());
      start.arrive_and_wait();
      for (int j = 0; j < kChanges; ++j) {
        const int change = folder.change();
        if (!syncs.sync(fd.get()))
          tally.failed += errno == EIO ? 1 : kThreads * kChanges;
        else if (!folder.has_on_disk(change))
          ++tally.lost;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("a change is on disk once its folder sync returns", "[folder_syncs]") {
  CountedFolder folder;
  Tally tally;
  change_and_sync(folder, tally);
  CHECK(tally.lost == 0);
  CHECK(tally.failed == 0);
}

TEST_CASE("a folder is synced by one at a time", "[folder_syncs]") {
  CountedFolder folder;
  Tally tally;
  change_and_sync(folder, tally);
  CHECK(folder.overlaps() == 0);
  CHECK(folder.syncs() < kThreads * kChanges);
}

TEST_CASE("each of many who share a folder sync is told when it is over", "[folder_syncs]") {
  constexpr int kRounds = 40;
  const tests::TemporaryFolder place;
  const net::Fd fd = open_path(place.path());
  std::atomic<int> done = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<int> asking = 0;
    FolderSyncs syncs([&](int) {
      while (asking < kThreads) std::this_thread::yield();
      base::pause_ms(5);  // so that they sleep
      return 0;
    });
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        ++asking;
        if (syncs.sync(fd.get())) ++done;
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  CHECK(done == kRounds * kThreads);
}

TEST_CASE("a folder sync that fails does so for all who share it", "[folder_syncs]") {
  CountedFolder folder;
  folder.has_failures = true;
  Tally tally;
  change_and_sync(folder, tally);
  CHECK(tally.lost == 0);
  CHECK(tally.failed >= folder.syncs() / 2);
  CHECK(tally.failed < kThreads * kChanges);
}

TEST_CASE("syncs of different folders do not wait for each other", "[folder_syncs]") {
  const tests::TemporaryFolder slow;
  const tests::TemporaryFolder quick;
  const net::Fd slow_fd = open_path(slow.path());
  const net::Fd quick_fd = open_path(quick.path());
  std::latch has_begun(1);
  std::latch may_end(1);
  FolderSyncs syncs([&](int folder) {
    if (folder != slow_fd.get()) return 0;
    has_begun.count_down();
    may_end.wait();
    return 0;
  });
  std::thread thread([&] { syncs.sync(slow_fd.get()); });
  has_begun.wait();
  CHECK(syncs.sync(quick_fd.get()));
  may_end.count_down();
  thread.join();
}

TEST_CASE("a folder is synced, and what cannot be is an error", "[folder_syncs]") {
  const tests::TemporaryFolder folder;
  const net::Fd fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  CHECK(fileserver::sync_folder(fd.get()) == 0);
  CHECK(fileserver::sync_folder(open_path(folder.path()).get()) == EBADF);
  FolderSyncs syncs(fileserver::sync_folder);
  CHECK(syncs.sync(fd.get()));
  CHECK_FALSE(syncs.sync(open_path(folder.path()).get()));
  CHECK(errno == EBADF);
  CHECK_FALSE(syncs.sync(-1));
  CHECK(errno == EBADF);
}
