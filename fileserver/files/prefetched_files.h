// Files that are read into memory at start, and kept up to date (--files prefetch, the default).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fileserver/files/cache_updater.h"
#include "fileserver/files/disk_files.h"
#include "fileserver/files/file_cache.h"

namespace fileserver {

// Who brings the files up to date once they are in memory.
enum class Updates {
  kByThread,
  kNone,  // each open() compares the file with the one on disk; a changed one is served from there
};

// The memory for files.
struct MemoryRule {
  std::int64_t limit_bytes;
  bool evicts = true;  // what is asked for often may get the room of what is not; by a thread only
};

// open() from any thread. With Updates::kByThread, one more thread, of its own, keeps the files up
// to date. With Updates::kNone, children that are forked later share the memory, and no thread is
// left when the constructor returns.
class PrefetchedFiles : public Files {
 public:
  // Reads all files, several at once, and logs the progress every two seconds. A file that does not
  // fit into the limit is served from disk.
  //
  // `may_go_on` is called by several threads while files are read. Once it returns false, the
  // constructor returns early, and no thread keeps the files up to date.
  //
  // `mounts` must be opened before the process is restricted; by default nothing that is mounted
  // later is noticed.
  PrefetchedFiles(std::shared_ptr<const Fence> fence, MemoryRule memory,
                  const std::function<bool()>& may_go_on, MountWatch mounts = {},
                  Updates updates = Updates::kByThread, DiskReads reads = {});

  base::Result<OpenedFile> open(std::string_view name) override;

  std::optional<NamedFile> publish(const std::string& name, int fd,
                                   const GiveName& give_name) override {
    return disk_.publish(name, fd, [&] { return cache_.publish(name, fd, give_name); });
  }
  bool remove(const std::string& name, const std::function<bool()>& unlink) override {
    return cache_.remove(name, unlink);
  }
  bool rename(const std::string& from, const std::string& to,
              const std::function<bool()>& rename) override {
    return cache_.rename(from, to, rename);
  }
  void forget_below(const Names& folders) override { cache_.forget_below(folders); }

  bool is_distinct(const FileVersion& version) const override { return disk_.is_distinct(version); }

  FilesInMemory in_memory() const override {
    return {cache_.files_in_memory(), cache_.used_bytes(), cache_.limit_bytes()};
  }

 private:
  std::optional<FileCache::Entry> find(std::string_view name);
  base::Result<OpenedFile> open_known(std::string_view name, std::string_view real_name,
                                      FileCache::Entry entry);
  bool is_current(std::string_view real_name, const CachedFile& file) const;
  void note_demand(std::string_view real_name, const OpenedFile& opened);

  // Opens a file that the cache does not know on disk, if there is such a file.
  base::Result<OpenedFile> open_unknown(std::string_view name, const std::string& real_name);

  void load_all(const FolderListing& listing, const std::function<bool()>& may_go_on);

  // Loads each file once. Returns those that are not finished, or nothing if it was ended.
  std::optional<std::vector<std::string>> load_each(const std::vector<std::string>& names,
                                                    const std::function<bool()>& may_go_on);
  void log_progress(std::size_t done, std::size_t count, double seconds) const;
  void log_result(const std::vector<std::string>& names, double seconds) const;
  // How changes of the folder are noticed.
  std::string_view way_of_looking() const;

  std::vector<std::string> unreadable_of(const std::vector<std::string>& names) const;

  const std::shared_ptr<const Fence> fence_;
  DiskFiles disk_;
  FileCache cache_;
  const bool evicts_;
  std::optional<CacheUpdater> updater_;  // nothing with Updates::kNone
};

// Calls work(0) to work(count - 1) from up to eight threads, in this order of starting, and returns
// when every call has returned. Eight threads are faster even on one core, because a disk answers
// many reads at once faster than one after another.
//
// The calling thread calls may_go_on() every 50 ms; once it returns false, no further call starts.
// It also calls report() every two seconds, with the number of calls done and the time so far.
// Returns whether all calls were made. Throws when no thread can be started. If a call throws, no
// further call starts, and its exception is thrown here.
bool for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work,
                          const std::function<bool()>& may_go_on,
                          const std::function<void(std::size_t done, double seconds)>& report);

}  // namespace fileserver
