#include "fileserver/files/folder_syncs.h"

#include <sys/stat.h>

#include <cerrno>

#include "base/clock.h"
#include "base/file_io.h"
#include "base/futex.h"

namespace fileserver {

namespace {

void wait_for(std::atomic<std::uint32_t>& word) {
  while (word == 0) base::sleep_while(word, 0U, base::now_ns() + base::kNsPerS);
}

}  // namespace

bool FolderSyncs::sync(int folder) {
  struct stat status {};
  if (::fstat(folder, &status) != 0) return false;
  const Key key(status.st_dev, status.st_ino);
  const auto [round, is_first] = enter(key);
  if (round) wait_for(is_first ? round->has_begun : round->is_over);
  if (!is_first) {
    errno = round->failure;
    return round->failure == 0;
  }
  const int failure = sync_now_(folder);
  begin_next(key);
  if (round) {
    round->failure = failure;
    round->is_over = 1;
    base::wake_all(round->is_over);
  }
  errno = failure;
  return failure == 0;
}

FolderSyncs::Entry FolderSyncs::enter(const Key& key) {
  const base::Lock lock(mutex_);
  const auto [folder, is_idle] = next_.try_emplace(key);
  if (is_idle) return {nullptr, true};
  const bool is_first = !folder->second;
  if (is_first) folder->second = std::make_shared<Round>();
  return {folder->second, is_first};
}

// Lets the next round begin. From now on nobody joins that one any more.
void FolderSyncs::begin_next(const Key& key) {
  const base::Lock lock(mutex_);
  const auto folder = next_.find(key);
  const SharedRound next = std::exchange(folder->second, nullptr);
  if (!next) {
    next_.erase(folder);
    return;
  }
  next->has_begun = 1;
  base::wake(next->has_begun);
}

int sync_folder(int folder) { return base::sync(folder) ? 0 : errno; }

}  // namespace fileserver
