// The prefetched files by name.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "fileserver/files/whole_file.h"

namespace fileserver {

// Any thread. Many small tables, each under its own mutex, which is held for one look-up: requests
// for different files hardly ever meet, and a change of one file copies nothing.
class FileTable {
 public:
  // A file as the table knows it; without data it is served from disk.
  using Entry = std::shared_ptr<const WholeFile>;  // shared with the requests under way, which keep
                                                   // their version

  // Null when there is no such file.
  Entry find(std::string_view name) const;

  void put(std::string name, Entry entry);
  void erase(std::string_view name);

  // Everything below a folder, whose name ends in "/".
  void erase_below(std::string_view folder);

  std::vector<std::string> names() const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  struct Shard {
    mutable base::Mutex mutex;
    std::unordered_map<std::string, Entry, Hash, std::equal_to<>> files GUARDED_BY(mutex);
  };
  static constexpr std::size_t kShards = 64;

  Shard& shard_of(std::string_view name) { return shards_[Hash()(name) % kShards]; }
  const Shard& shard_of(std::string_view name) const { return shards_[Hash()(name) % kShards]; }

  std::array<Shard, kShards> shards_;
};

}  // namespace fileserver
