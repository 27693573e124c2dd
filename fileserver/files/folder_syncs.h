// Lets those who change the names in one folder at the same time share the sync of the folder.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "base/mutex.h"

namespace fileserver {

// Who finds nobody syncing a folder syncs it at once. Those who come meanwhile wait for the next
// sync, which the first of them does for all. So a sync never begins before a change that it is
// for, and nobody waits for more than two. Different folders do not wait for each other.
//
// The bytes of files are not synced in such groups, because the kernel already takes to the disk
// together what several threads sync. One thread that syncs the files of all is slower.
//
// Any thread.
class FolderSyncs {
 public:
  // Syncs a folder and returns 0, or an errno.
  using SyncNow = std::function<int(int folder)>;

  explicit FolderSyncs(SyncNow sync_now) : sync_now_(std::move(sync_now)) {}

  // Returns once the names of the folder are on disk as the caller has left them. A sync that fails
  // returns false, with errno, to all who have shared it.
  bool sync(int folder) EXCLUDES(mutex_);

 private:
  using Key = std::pair<dev_t, ino_t>;  // a name may be that of another folder by now

  // A sync that waits for the one before it. The words are for base::sleep_while().
  struct Round {
    std::atomic<std::uint32_t> has_begun = 0;  // whoever came first sleeps on this
    std::atomic<std::uint32_t> is_over = 0;    // the others sleep on this
    int failure = 0;                           // an errno or 0, final when it is over
  };
  // Shared, because those who sleep read the result after the first has left.
  using SharedRound = std::shared_ptr<Round>;

  struct Entry {
    SharedRound round;  // null: the caller syncs at once
    bool is_first;
  };
  Entry enter(const Key& key) EXCLUDES(mutex_);
  void begin_next(const Key& key) EXCLUDES(mutex_);

  const SyncNow sync_now_;

  base::Mutex mutex_;
  // The folders that are being synced, with the round after that. Null if nobody waits for it.
  std::map<Key, SharedRound> next_ GUARDED_BY(mutex_);
};

// Syncs a folder, which must not be opened with O_PATH. Returns 0 or an errno. It needs no further
// descriptor, so that it works where there is none left.
int sync_folder(int folder);

}  // namespace fileserver
