#include "fileserver/files/file_cache.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace fileserver {

using base::ErrorCode;

std::int64_t FileCache::bookkeeping_bytes(std::string_view name) {
  // A little more than what the entries of the table and of the index, the CachedFile and their
  // blocks on the heap take with 64-bit pointers.
  constexpr std::int64_t kBytesBesidesTheName = 480;
  return kBytesBesidesTheName + static_cast<std::int64_t>(name.size());
}

std::optional<FileCache::Entry> FileCache::find(std::string_view name) const {
  const Shard& shard = shard_of(name);
  const base::Lock lock(shard.mutex);
  const auto found = shard.files.find(name);
  if (found == shard.files.end()) return {};
  return found->second.entry;
}

std::optional<FileCache::Entry> FileCache::ask_for(std::string_view name, std::uint32_t times) {
  Shard& shard = shard_of(name);
  const base::Lock lock(shard.mutex);
  const auto found = shard.files.find(name);
  if (found == shard.files.end()) return {};
  Entry& entry = found->second.entry;
  if (!entry.file) return entry;
  const std::uint32_t counted = std::min(times, UINT32_MAX - entry.times);
  entry.times += counted;
  shard.times += counted;
  return entry;
}

std::vector<Demand> FileCache::least_wanted(std::int64_t bytes, std::uint32_t times) const {
  FirstOf least(FirstOf::Order::kLeast, bytes);
  for (const Shard& shard : shards_) {
    const base::Lock lock(shard.mutex);
    for (const auto& [name, known] : shard.files) {
      const auto& [entry, bookkeeping] = known;
      if (entry.source == Source::kDiskOverLimit) least.add(name, bookkeeping.bytes(), 0);
      if (entry.file && entry.file.use_count() == 1 && is_worth(times, entry.times))
        least.add(name, bookkeeping.bytes() + entry.file->share->bytes(), entry.times);
    }
  }
  return least.take();
}

bool FileCache::may_come_in(const std::string& name, std::int64_t bytes) const {
  const auto status = fence_.status_of(name, Fence::Links::kRefused);
  if (!status) return false;
  const FileVersion version = version_in(*status);
  return is_settled(version) && memory_for(version.size_bytes) + bookkeeping_bytes(name) <= bytes;
}

std::uint64_t FileCache::times() const {
  std::uint64_t times = 0;
  for (const Shard& shard : shards_) {
    const base::Lock lock(shard.mutex);
    times += shard.times;
  }
  return times;
}

void FileCache::forget_old_times(int halvings) {
  for (Shard& shard : shards_) {
    const base::Lock lock(shard.mutex);
    shard.times = 0;
    for (auto& file : shard.files) shard.times += file.second.entry.times >>= halvings;
  }
}

void FileCache::forget(const std::string& name) {
  const Turns::Turn turn(turns_, name);
  erase(name);
}

std::vector<std::string> FileCache::names() const {
  std::vector<std::string> all;
  for (const Shard& shard : shards_) {
    const base::Lock lock(shard.mutex);
    for (const auto& file : shard.files) all.push_back(file.first);
  }
  return all;
}

ino_t FileCache::inode_of(const std::string& name) const {
  if (const auto known = find(name); known && known->inode != 0) return known->inode;
  const auto status = fence_.status_of(name, Fence::Links::kRefused);
  return status ? version_in(*status).inode : 0;
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
  if (known.inode != version.inode && !put(name, {.source = known.source,
                                                  .inode = version.inode,
                                                  .file = known.file,
                                                  .dropped = known.dropped}))
    return {State::kCurrent, version};
  if (known.file && known.file->is_of(version)) return {State::kCurrent, version};
  return {is_settled(version) ? State::kStale : State::kUnsettled, version};
}

FileCache::State FileCache::check(const std::string& name) {
  const Turns::Turn turn(turns_, name);
  return compare(name).state;
}

FileCache::State FileCache::load(const std::string& name, const Pieces& pieces) {
  Comparison found{};
  {
    const Turns::Turn turn(turns_, name);
    found = compare(name);
  }
  if (found.state != State::kStale) return found.state;
  auto share = make_room(name, memory_for(found.version.size_bytes));
  if (!share) {
    const Turns::Turn turn(turns_, name);
    const auto known = find(name);
    if (known && !known->dropped.expired()) return State::kUnsettled;
    put(name, {.source = Source::kDiskOverLimit, .inode = found.version.inode});
    return State::kCurrent;
  }
  auto file = read_whole_file(fence_, name, std::move(*share), {direct_io_, memory_, pieces});
  const Turns::Turn turn(turns_, name);
  if (!file) return after_failed_read(name, file.error());
  // A change during the read may have been reported already, and is not reported again.
  if (!is_still(name, file->version)) return compare(name).state;
  const ino_t inode = file->version.inode;
  put(name, {.source = Source::kMemory, .inode = inode, .file = shared(std::move(*file))});
  return State::kCurrent;
}

std::optional<NamedFile> FileCache::publish(const std::string& name, int fd,
                                            const Files::GiveName& give_name) {
  const FileVersion written = version_of(fd);
  std::optional<CachedFile> file;
  if (auto share = budget_.take(memory_for(written.size_bytes)))
    file = copy_own_file(fd, written.size_bytes, std::move(*share), memory_);
  const Turns::Turn turn(turns_, name);
  const auto named = give_name();
  if (!named) return {};
  const auto version = named->version_now(fd);  // the name has changed it
  if (!version) {
    erase(name);
    return named;
  }
  // The name is known before the look whether it leads to the file. So who renames a folder on the
  // way after that look finds it to forget, and waits for this turn.
  put(name, {.source = Source::kDisk, .inode = version->inode});
  if (!is_still(name, *version)) {
    erase(name);
  } else if (file) {
    file->version = *version;
    put(name,
        {.source = Source::kMemory, .inode = version->inode, .file = shared(std::move(*file))});
  }
  return named;
}

bool FileCache::remove(const std::string& name, const std::function<bool()>& unlink) {
  const Turns::Turn turn(turns_, name);
  if (!unlink()) return false;
  erase(name);
  return true;
}

bool FileCache::rename(const std::string& from, const std::string& to,
                       const std::function<bool()>& rename) {
  const Turns::OfBoth turns(turns_, from, to);
  if (!rename()) return false;
  erase(from);
  erase(to);
  return true;
}

FileCache::State FileCache::after_failed_read(const std::string& name, const base::Error& error) {
  if (error.code == ErrorCode::kUnavailable) return State::kUnsettled;
  if (error.code == ErrorCode::kBusy) return State::kUnchecked;
  if (error.code == ErrorCode::kNotFound) {
    erase(name);
    return State::kCurrent;
  }
  base::log::warn("cannot prefetch a file, it is served from disk reason={}",
                  base::log::quoted_long(error.context));
  // The file may have been forgotten while it was read.
  if (const auto known = find(name))
    put(name, {.source = Source::kDiskUnreadable, .inode = known->inode});
  return State::kCurrent;
}

bool FileCache::is_still(const std::string& name, const FileVersion& version) const {
  const auto status = fence_.status_of(name, Fence::Links::kRefused);
  return status && have_same_content(version_in(*status), version);
}

// The known version may be in memory a little longer, if a request still sends it.
std::optional<MemoryShare> FileCache::make_room(const std::string& name, std::int64_t bytes) {
  if (auto share = budget_.take(bytes)) return share;
  serve_from_disk(name);
  return budget_.take(bytes);
}

void FileCache::serve_from_disk(const std::string& name) {
  const Turns::Turn turn(turns_, name);
  const auto known = find(name);
  if (known && known->file)
    put(name, {.source = Source::kDisk, .inode = known->inode, .dropped = known->file->share});
}

// Returns false when the name is new and there is no room for it.
bool FileCache::put(const std::string& name, Entry entry) {
  Table::value_type* const known = find_or_add(name);
  if (known == nullptr) return false;
  // The caller has the turn, so nobody else changes this entry now, and the address of a key never
  // changes.
  note_inode(known->first, known->second.entry.inode, entry.inode);
  const base::Lock lock(shard_of(name).mutex);
  note_file(known->second.entry, entry);
  entry.times = known->second.entry.times;
  std::swap(known->second.entry, entry);
  return true;
  // The old version is freed when `entry` is: after the lock, unless a request still sends it.
}

FileCache::Table::value_type* FileCache::find_or_add(const std::string& name) {
  Shard& shard = shard_of(name);
  const base::Lock lock(shard.mutex);
  auto found = shard.files.find(name);
  if (found == shard.files.end()) {
    auto share = budget_.take(bookkeeping_bytes(name));
    if (!share) return nullptr;
    found = shard.files.emplace(name, Known{{}, std::move(*share)}).first;
  }
  return &*found;
}

void FileCache::note_file(const Entry& before, const Entry& now) {
  files_in_memory_ += (now.file ? 1 : 0) - (before.file ? 1 : 0);
}

void FileCache::note_inode(std::string_view name, ino_t before, ino_t now) {
  if (before == now) return;
  const base::Lock lock(inodes_mutex_);
  if (now != 0) names_by_inode_.emplace(now, name);
  names_by_inode_.erase({before, name});
}

void FileCache::erase(std::string_view name) {
  Shard& shard = shard_of(name);
  Table::node_type erased;  // freed after the lock is released
  {
    const base::Lock lock(shard.mutex);
    const auto found = shard.files.find(name);
    if (found == shard.files.end()) return;
    erased = shard.files.extract(found);
    shard.times -= erased.mapped().entry.times;
    note_file(erased.mapped().entry, {});
  }
  note_inode(erased.key(), erased.mapped().entry.inode, 0);
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
  for (const std::string& name : names_below(folders)) {
    const Turns::Turn turn(turns_, name);
    erase(name);
  }
}

}  // namespace fileserver
