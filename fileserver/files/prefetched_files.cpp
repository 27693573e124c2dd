#include "fileserver/files/prefetched_files.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/units.h"
#include "base/waits.h"

namespace fileserver {

namespace {

constexpr std::size_t kThreads = 8;
constexpr int kReportEveryMs = 2000;
constexpr int kAskEveryMs = 50;

double seconds_since(std::int64_t start_ns) {
  return static_cast<double>(base::now_ns() - start_ns) / 1e9;
}

// Logs a line for each name, but for no more than the first ten.
void warn_of_each(std::string_view what, const std::vector<std::string>& names) {
  constexpr std::size_t kNamed = 10;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i)
    base::log::warn("{} name={}", what, base::log::quoted_long(names[i]));
  if (names.size() > kNamed) base::log::warn("{} further={}", what, names.size() - kNamed);
}

// Starts as many threads as the system allows, between one and `at_most`.
std::vector<std::thread> start_threads(std::size_t at_most, const std::function<void()>& life) {
  std::vector<std::thread> threads;
  threads.reserve(at_most);
  while (threads.size() < at_most) {
    try {
      threads.emplace_back(life);
    } catch (const std::exception&) {
      if (threads.empty()) throw;
      break;
    }
  }
  return threads;
}

}  // namespace

// The name of the served folder is resolved once, by the fence. So every part sees the same folder,
// even if the name is a link that is changed later.
PrefetchedFiles::PrefetchedFiles(std::shared_ptr<const Fence> fence, MemoryRule memory,
                                 const std::function<bool()>& may_go_on, MountWatch mounts,
                                 Updates updates, DiskReads reads)
    : fence_(std::move(fence)),
      disk_(fence_, reads),
      cache_(*fence_, memory.limit_bytes),
      evicts_(memory.evicts) {
  if (updates == Updates::kByThread) {
    updater_.emplace(cache_, fence_->root_path(), kPieceBytes, std::move(mounts));
    load_all(updater_->watch_and_list(), may_go_on);
  } else {
    load_all(list_files(fence_->root_path(), "", [](const std::string&) { return true; }),
             may_go_on);
  }
}

base::Result<OpenedFile> PrefetchedFiles::open(std::string_view name) {
  if (auto entry = find(name)) return open_known(name, name, std::move(*entry));
  const auto real_name = base::may_block([&] { return fence_->real_name(name); });
  if (!real_name) return real_name.error();
  if (auto entry = find(*real_name)) return open_known(name, *real_name, std::move(*entry));
  return open_unknown(name, *real_name);
}

std::optional<FileCache::Entry> PrefetchedFiles::find(std::string_view name) {
  return updater_ && evicts_ ? cache_.ask_for(name) : cache_.find(name);
}

base::Result<OpenedFile> PrefetchedFiles::open_known(std::string_view name,
                                                     std::string_view real_name,
                                                     FileCache::Entry entry) {
  if (entry.source == FileCache::Source::kDiskOverLimit) {
    auto opened = disk_.open(name);
    if (opened) note_demand(real_name, *opened);
    return opened;
  }
  if (!entry.file || !is_current(real_name, *entry.file)) return disk_.open(name);
  const FileVersion version = entry.file->version;
  return OpenedFile{.name = name, .version = version, .cached = std::move(entry.file)};
}

bool PrefetchedFiles::is_current(std::string_view real_name, const CachedFile& file) const {
  if (updater_) return true;
  const auto status = fence_->status_of(real_name, Fence::Links::kRefused);
  return status && file.is_of(version_in(*status));
}

// inotify does not report every file that is made, and a folder may be entered but not listed. Or
// --memory-limit leaves no room even for the name.
base::Result<OpenedFile> PrefetchedFiles::open_unknown(std::string_view name,
                                                       const std::string& real_name) {
  auto opened = disk_.open(name);
  if (!opened || !updater_) return opened;
  if (cache_.has_room_for(real_name)) updater_->check_soon(real_name);
  note_demand(real_name, *opened);
  return opened;
}

void PrefetchedFiles::note_demand(std::string_view real_name, const OpenedFile& opened) {
  if (updater_ && evicts_) updater_->note_demand(real_name, opened.version.size_bytes);
}

void PrefetchedFiles::load_all(const FolderListing& listing,
                               const std::function<bool()>& may_go_on) {
  const std::int64_t start_ns = base::now_ns();
  auto unfinished = load_each(listing.files, may_go_on);
  if (unfinished && !unfinished->empty()) {
    base::pause_ms(kSettlingMs + 1);  // nearly all are files that were written just now
    unfinished = load_each(*unfinished, may_go_on);
  }
  if (!unfinished) return;
  log_result(listing.files, seconds_since(start_ns));
  warn_of_each("the folder cannot be listed", listing.forbidden);
  warn_of_each("the folder cannot be entered, its files are not served", listing.closed);
  warn_of_each("the file cannot be read, it is not served", unreadable_of(listing.files));
  if (updater_) updater_->start(*unfinished);
}

std::optional<std::vector<std::string>> PrefetchedFiles::load_each(
    const std::vector<std::string>& names, const std::function<bool()>& may_go_on) {
  base::Mutex mutex;
  std::vector<std::string> unfinished;
  const bool is_done = for_each_in_parallel(
      names.size(),
      [&](std::size_t i) {
        const auto state = cache_.load(names[i], {kOneReadBytes, may_go_on});
        if (state == FileCache::State::kCurrent) return;
        const base::Lock lock(mutex);
        unfinished.push_back(names[i]);
      },
      may_go_on,
      [&](std::size_t done, double seconds) { log_progress(done, names.size(), seconds); });
  if (!is_done) return {};
  return unfinished;
}

void PrefetchedFiles::log_progress(std::size_t done, std::size_t count, double seconds) const {
  const auto bytes = static_cast<double>(cache_.used_bytes());
  const double left_s = seconds * static_cast<double>(count - done) /
                        static_cast<double>(std::max<std::size_t>(done, 1));
  base::log::info("prefetching files={}/{} read=\"{}\" rate=\"{}/s\" left_s={:.0f}", done, count,
                  base::human_bytes(bytes), base::human_bytes(bytes / seconds), left_s);
}

void PrefetchedFiles::log_result(const std::vector<std::string>& names, double seconds) const {
  using Source = FileCache::Source;
  std::map<Source, std::size_t> files;
  std::int64_t bytes = 0;
  for (const std::string& name : names) {
    if (const auto entry = cache_.find(name)) {
      ++files[entry->source];
      if (entry->file) bytes += entry->file->version.size_bytes;
    } else if (fence_->status_of_readable(name)) {
      ++files[Source::kDiskOverLimit];
    }
  }
  base::log::info(
      "prefetched files={} memory=\"{}\" of_files=\"{}\" seconds={:.2f} direct_io={} watch={}",
      files[Source::kMemory], base::human_bytes(static_cast<double>(cache_.used_bytes())),
      base::human_bytes(static_cast<double>(bytes)), seconds, cache_.uses_direct_io(),
      way_of_looking());
  if (files[Source::kDiskOverLimit] > 0)
    base::log::warn("files over --memory-limit are served from disk files={}",
                    files[Source::kDiskOverLimit]);
  if (files[Source::kDisk] > 0)
    base::log::info("files that are changing are served from disk until they settle files={}",
                    files[Source::kDisk]);
  if (files[Source::kDiskUnreadable] > 0)
    base::log::warn("files that could not be prefetched are served from disk files={}",
                    files[Source::kDiskUnreadable]);
}

std::string_view PrefetchedFiles::way_of_looking() const {
  if (!updater_) return "requests";
  return updater_->polls() ? "poll" : "inotify";
}

// A file that may not be read has no entry in the cache.
std::vector<std::string> PrefetchedFiles::unreadable_of(
    const std::vector<std::string>& names) const {
  std::vector<std::string> unreadable;
  for (const std::string& name : names) {
    if (!cache_.find(name) && fence_->status_of(name, Fence::Links::kRefused) &&
        !fence_->status_of_readable(name))
      unreadable.push_back(name);
  }
  return unreadable;
}

bool for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work,
                          const std::function<bool()>& may_go_on,
                          const std::function<void(std::size_t done, double seconds)>& report) {
  const std::int64_t start_ns = base::now_ns();
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> done = 0;
  base::Mutex mutex;
  base::Condition has_ended;
  std::exception_ptr failure;
  const auto end_with = [&](std::exception_ptr thrown) {
    const base::Lock lock(mutex);
    if (!failure) failure = std::move(thrown);
    has_ended.wake_all();
  };
  const auto life = [&] {
    try {
      for (std::size_t i = 0; (i = next++) < count;) {
        work(i);
        if (++done == count) end_with(nullptr);
      }
    } catch (const std::exception&) {
      end_with(std::current_exception());
    }
  };
  auto threads = start_threads(std::min(kThreads, count), life);
  {
    const base::Lock lock(mutex);
    auto report_at = base::Deadline::in_ms(kReportEveryMs);
    while (done < count && !failure && may_go_on()) {
      has_ended.wait_ms(mutex, std::min(report_at.left_ms(), kAskEveryMs));
      if (done == count || !report_at.has_passed()) continue;
      report(done, seconds_since(start_ns));
      report_at = base::Deadline::in_ms(kReportEveryMs);
    }
  }
  next = count;  // the calls that have not started yet are not made
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return done == count;
}

}  // namespace fileserver
