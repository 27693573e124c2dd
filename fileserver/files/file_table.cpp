#include "fileserver/files/file_table.h"

namespace fileserver {

FileTable::Entry FileTable::find(std::string_view name) const {
  const Shard& shard = shard_of(name);
  const base::Lock lock(shard.mutex);
  const auto found = shard.files.find(name);
  return found == shard.files.end() ? nullptr : found->second;
}

void FileTable::put(std::string name, Entry entry) {
  Shard& shard = shard_of(name);
  {
    const base::Lock lock(shard.mutex);
    shard.files[std::move(name)].swap(entry);
  }
  // The version before, if nobody sends it any more, is freed here: outside the lock.
}

void FileTable::erase(std::string_view name) {
  Shard& shard = shard_of(name);
  Entry gone;
  const base::Lock lock(shard.mutex);
  const auto found = shard.files.find(name);
  if (found == shard.files.end()) return;
  gone.swap(found->second);
  shard.files.erase(found);
}

void FileTable::erase_below(std::string_view folder) {
  for (Shard& shard : shards_) {
    const base::Lock lock(shard.mutex);
    std::erase_if(shard.files, [&](const auto& file) {
      return std::string_view(file.first).starts_with(folder);
    });
  }
}

std::vector<std::string> FileTable::names() const {
  std::vector<std::string> all;
  for (const Shard& shard : shards_) {
    const base::Lock lock(shard.mutex);
    for (const auto& file : shard.files) all.push_back(file.first);
  }
  return all;
}

}  // namespace fileserver
