#include "fileserver/files/file_cache.h"

#include <utility>

#include "base/log.h"

namespace fileserver {

using base::ErrorCode;

std::optional<FileCache::Entry> FileCache::find(std::string_view name) const {
  const Shard& shard = shard_of(name);
  const base::Lock lock(shard.mutex);
  const auto found = shard.files.find(name);
  if (found == shard.files.end()) return {};
  return found->second;
}

std::vector<std::string> FileCache::names() const {
  std::vector<std::string> all;
  for (const Shard& shard : shards_) {
    const base::Lock lock(shard.mutex);
    for (const auto& file : shard.files) all.push_back(file.first);
  }
  return all;
}

std::vector<std::string> FileCache::names_of(ino_t inode) const {
  std::vector<std::string> names;
  const base::Lock lock(inodes_mutex_);
  auto next = names_by_inode_.lower_bound({inode, {}});
  for (; next != names_by_inode_.end() && next->first == inode; ++next)
    names.emplace_back(next->second);
  return names;
}

FileCache::Comparison FileCache::compare(const std::string& name) {
  const auto status = fence_.status_of(name, Fence::Links::kRefused);
  if (!status) {
    if (status.error().code != ErrorCode::kNotFound) return {State::kUnchecked};
    erase(name);
    return {State::kCurrent};
  }
  const FileVersion version = version_in(*status);
  const Entry known = find(name).value_or(Entry{});
  if (known.inode != version.inode) put(name, {known.source, version.inode, known.file});
  if (known.file && have_same_content(known.file->version, version))
    return {State::kCurrent, version};
  return {is_settled(version) ? State::kStale : State::kUnsettled, version};
}

FileCache::State FileCache::load(const std::string& name, const Pieces& pieces) {
  const Comparison found = compare(name);
  if (found.state != State::kStale) return found.state;
  auto share = budget_.take(memory_for(found.version.size_bytes), memory_of(name));
  if (!share) {
    put(name, {Source::kDiskOverLimit, found.version.inode});
    return State::kCurrent;
  }
  auto file = read_whole_file(fence_, name, std::move(*share), {direct_io_, pieces});
  if (!file) return after_failed_read(name, file.error());
  // A change during the read may have been reported already, and is not reported again.
  if (!is_still(name, file->version)) return check(name);
  const ino_t inode = file->version.inode;
  put(name, {Source::kMemory, inode, std::make_shared<const CachedFile>(std::move(*file))});
  return State::kCurrent;
}

FileCache::State FileCache::after_failed_read(const std::string& name, const base::Error& error) {
  if (error.code == ErrorCode::kUnavailable) return State::kUnsettled;
  if (error.code == ErrorCode::kNotFound) {
    erase(name);
    return State::kCurrent;
  }
  base::log::warn("cannot prefetch a file, it is served from disk reason={}",
                  base::log::quoted(error.context));
  // The file may have been forgotten while it was read.
  if (const auto known = find(name)) put(name, {Source::kDiskUnreadable, known->inode});
  return State::kCurrent;
}

bool FileCache::is_still(const std::string& name, const FileVersion& version) const {
  const auto status = fence_.status_of(name, Fence::Links::kRefused);
  return status && have_same_content(version_in(*status), version);
}

// The memory that is freed when a new version replaces the known one.
std::int64_t FileCache::memory_of(const std::string& name) const {
  const auto known = find(name);
  return known && known->file ? known->file->share.bytes() : 0;
}

void FileCache::serve_from_disk(const std::string& name) {
  const auto known = find(name);
  if (known && known->file) put(name, {Source::kDisk, known->inode});
}

void FileCache::put(const std::string& name, Entry entry) {
  Shard& shard = shard_of(name);
  std::pair<const std::string, Entry>* known = nullptr;
  {
    const base::Lock lock(shard.mutex);
    known = &*shard.files.try_emplace(name).first;
  }
  // No other thread changes this entry now, and the address of a key never changes.
  note_inode(known->first, known->second.inode, entry.inode);
  {
    const base::Lock lock(shard.mutex);
    std::swap(known->second, entry);
  }
  // The old version is freed here, outside the lock, unless a request still sends it.
}

void FileCache::note_inode(std::string_view name, ino_t before, ino_t now) {
  if (before == now) return;
  const base::Lock lock(inodes_mutex_);
  if (now != 0) names_by_inode_.emplace(now, name);
  names_by_inode_.erase({before, name});
}

void FileCache::erase(std::string_view name) {
  Shard& shard = shard_of(name);
  decltype(shard.files)::node_type erased;  // freed after the lock is released
  {
    const base::Lock lock(shard.mutex);
    const auto found = shard.files.find(name);
    if (found == shard.files.end()) return;
    erased = shard.files.extract(found);
  }
  note_inode(erased.key(), erased.mapped().inode, 0);
}

std::vector<std::string> FileCache::names_below(const Names& folders) const {
  std::vector<std::string> names;
  for (const Shard& shard : shards_) {
    const base::Lock lock(shard.mutex);
    for (const auto& file : shard.files) {
      if (is_below(file.first, folders)) names.push_back(file.first);
    }
  }
  return names;
}

void FileCache::forget_below(const Names& folders) {
  for (Shard& shard : shards_) {
    std::vector<decltype(shard.files)::node_type> erased;  // freed after the lock is released
    {
      const base::Lock lock(shard.mutex);
      for (auto next = shard.files.begin(); next != shard.files.end();) {
        const auto file = next++;
        if (!is_below(file->first, folders)) continue;
        erased.emplace_back();  // the first step, because it may run out of memory
        erased.back() = shard.files.extract(file);
      }
    }
    for (const auto& file : erased) note_inode(file.key(), file.mapped().inode, 0);
  }
}

}  // namespace fileserver
