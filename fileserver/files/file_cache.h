// The prefetched files by name, and how one of them is brought up to date. files.h explains the
// states.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "fileserver/files/cached_file.h"
#include "fileserver/files/demand.h"
#include "fileserver/files/fence.h"
#include "fileserver/files/files.h"
#include "fileserver/files/folder_watch.h"
#include "fileserver/files/memory_budget.h"
#include "fileserver/files/sendable_memory.h"
#include "fileserver/files/turns.h"

namespace fileserver {

// Any thread. But only one thread at a time may check or load the same file; any other one may
// publish or remove it meanwhile.
//
// The table has 64 shards, each with its own mutex, which is held for one look-up, or for one look
// at all files of the shard. Requests for different files rarely wait for each other.
class FileCache {
 public:
  // How a file in the cache compares with the served folder.
  enum class State { kCurrent, kStale, kUnsettled, kUnchecked };

  // Where a request gets the file from.
  enum class Source {
    kMemory,
    kDisk,            // not loaded yet, or dropped because loading the new version took too long
    kDiskOverLimit,   // the memory budget has no room for it
    kDiskUnreadable,  // loading failed; the log has the reason
  };

  struct Entry {
    Source source = Source::kDisk;

    // How often clients have asked for it while it was in memory; those long ago count less. put()
    // leaves it as it is.
    std::uint32_t times = 0;

    // Of the file that the last check found under this name.
    ino_t inode = 0;

    // Set if and only if the source is kMemory. Shared with the requests that send the file now:
    // the last of them frees it after a newer version has replaced it here.
    std::shared_ptr<const CachedFile> file = nullptr;

    // Of the version that was dropped last, until no request sends it and it is freed.
    std::weak_ptr<const MemoryShare> dropped = {};
  };

  // `fence` must outlive the cache.
  FileCache(const Fence& fence, std::int64_t memory_limit_bytes)
      : fence_(fence), budget_(memory_limit_bytes) {}

  // Nothing when there is no such file.
  std::optional<Entry> find(std::string_view name) const;

  // The same for a client: if the file is in memory, it was asked for so many times more.
  std::optional<Entry> ask_for(std::string_view name, std::uint32_t times = 1);

  // What may leave for a file that was asked for so many times: first names of files that have no
  // room, then the files in memory that are asked for least for what they take; as many as take so
  // many bytes. Nobody sends them now. Looks at all files.
  std::vector<Demand> least_wanted(std::int64_t bytes, std::uint32_t times) const;

  // Whether the file could be loaded now, if so many bytes were free.
  bool may_come_in(const std::string& name, std::int64_t bytes) const;

  // How often all files were asked for in memory; and halves that, so often.
  std::uint64_t times() const;
  void forget_old_times(int halvings);

  // Nothing is known of the file any more, until it is checked. It is there on disk.
  void forget(const std::string& name);

  // Of all files, in no order.
  std::vector<std::string> names() const;

  // Of the file that has this name, also of one that is not known; 0 if there is none.
  ino_t inode_of(const std::string& name) const;

  // All names of one file (hard links). Files of other file systems may be among them.
  std::vector<std::string> names_of(ino_t inode) const;

  // Compares the file with the folder, in microseconds. A file that is gone is forgotten. A new one
  // is served from disk. One that changed keeps its known version. When the budget has no room even
  // for the name of a new file, the file stays unknown.
  State check(const std::string& name);

  // Checks the file and, if it is kStale, reads the new version into memory. If there is no room
  // for two versions, the known one is dropped first. If there is no room at all, the file is
  // served from disk. kUnsettled when it changed while it was read, when pieces.may_go_on() ended
  // the reading, or when a request still sends the version whose memory is needed.
  State load(const std::string& name, const Pieces& pieces);

  // Gives a name to the complete file that `fd` reads, as Files::publish() does. Then the new
  // version is served: from memory, if there is room, without reading the disk, and check() finds
  // it current. If somebody has changed it already, it is served from disk.
  std::optional<NamedFile> publish(const std::string& name, int fd,
                                   const Files::GiveName& give_name);

  // Takes a name away: calls unlink(), in the same way. Once this returns true, it is forgotten.
  bool remove(const std::string& name, const std::function<bool()>& unlink);

  // Calls rename(), in the same way. Once this returns true, both names are forgotten: whoever asks
  // for one of them reads the disk, until it is loaded again.
  bool rename(const std::string& from, const std::string& to, const std::function<bool()>& rename);

  // Drops the version in memory, if there is one. Each request reads the file from disk then, until
  // it is loaded again.
  void serve_from_disk(const std::string& name);

  // Looks at every name in the cache once, however many folders there are.
  std::vector<std::string> names_below(const Names& folders) const;

  // Forgets all files below the folders, in the same way.
  void forget_below(const Names& folders);

  // What the table takes for one file, besides its bytes. It counts against the limit.
  static std::int64_t bookkeeping_bytes(std::string_view name);

  // Fence::times_opened_again() of the served folder.
  int times_root_was_opened_again() const { return fence_.times_opened_again(); }

  // Whether the budget has room for a file with this name.
  bool has_room_for(std::string_view name) const {
    return budget_.has_room_for(bookkeeping_bytes(name));
  }

  std::int64_t used_bytes() const { return budget_.used_bytes(); }
  std::int64_t limit_bytes() const { return budget_.limit_bytes(); }

  // How many files have their bytes in memory now.
  std::int64_t files_in_memory() const { return files_in_memory_.load(); }
  bool uses_direct_io() const { return !direct_io_.is_refused(); }

 private:
  struct Comparison {
    State state;
    FileVersion version = {};  // in the folder, if the file is there
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  struct Known {
    Entry entry;
    MemoryShare bookkeeping;
  };
  using Table = std::unordered_map<std::string, Known, Hash, std::equal_to<>>;
  struct Shard {
    mutable base::Mutex mutex;
    Table files GUARDED_BY(mutex);
    std::uint64_t times GUARDED_BY(mutex) = 0;  // of all files
  };
  static constexpr std::size_t kShards = 64;

  // Require: the turn of the name.
  Comparison compare(const std::string& name);
  State after_failed_read(const std::string& name, const base::Error& error);
  bool is_still(const std::string& name, const FileVersion& version) const;
  bool put(const std::string& name, Entry entry);
  Table::value_type* find_or_add(const std::string& name);
  void note_file(const Entry& before, const Entry& now);
  void note_inode(std::string_view name, ino_t before, ino_t now);
  void erase(std::string_view name);

  std::optional<MemoryShare> make_room(const std::string& name, std::int64_t bytes);
  Shard& shard_of(std::string_view name) { return shards_[Hash()(name) % kShards]; }
  const Shard& shard_of(std::string_view name) const { return shards_[Hash()(name) % kShards]; }

  const Fence& fence_;
  DirectIo direct_io_;
  SendableMemory memory_;  // both before the shards, whose files hold parts of them
  MemoryBudget budget_;
  std::array<Shard, kShards> shards_;

  // Who has the turn of a name compares the file with the folder, or changes it there, and replaces
  // the entry: the two must agree. Requests do not use it.
  Turns turns_;

  std::atomic<std::int64_t> files_in_memory_ = 0;

  // The names are the keys of `shards_`. Requests do not use it.
  mutable base::Mutex inodes_mutex_;
  std::set<std::pair<ino_t, std::string_view>> names_by_inode_ GUARDED_BY(inodes_mutex_);
};

}  // namespace fileserver
