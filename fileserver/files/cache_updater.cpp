#include "fileserver/files/cache_updater.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "fileserver/files/file_system.h"
#include "net/socket_io.h"

namespace fileserver {

namespace {

constexpr int kRecheckMs = kSettlingMs + 1;  // an unsettled file may have settled by then
constexpr int kRetryMs = 250;                // after an is_system_failure()
constexpr int kListEveryMs = 1000;           // a folder that cannot be watched
constexpr int kServeOldMs = 500;             // a part of the two seconds that the protocol allows
constexpr std::size_t kMaxRequested = 1000;  // by check_soon(), not yet checked
constexpr int kReplaceEveryMs = 250;
constexpr int kReplacePart = 20;  // the choice of files takes at most this part of the time
constexpr std::int64_t kMostReplaced = 256;  // at once
constexpr std::int64_t kMemoryAtOnce = 8;  // the part of the memory that is given to others at once

base::Deadline earlier(base::Deadline one, base::Deadline other) {
  if (one.is_never() || other.is_never()) return one.is_never() ? other : one;
  return one.left_ms() < other.left_ms() ? one : other;
}

}  // namespace

CacheUpdater::CacheUpdater(FileCache& cache, std::string root, std::int64_t piece_bytes,
                           MountWatch mounts)
    : cache_(cache),
      root_(std::move(root)),
      piece_bytes_(piece_bytes),
      known_root_(cache_.times_root_was_opened_again()),
      wake_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      mounts_(std::move(mounts)),
      replace_pause_ms_(kReplaceEveryMs) {
  mounts_.changed_below(root_);
  open_watch();
}

CacheUpdater::~CacheUpdater() {
  is_stopping_ = true;
  ::eventfd_write(wake_event_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

void CacheUpdater::open_watch() {
  if (auto opened = FolderWatch::on(root_)) watch_.emplace(std::move(*opened));
}

void CacheUpdater::start(const std::vector<std::string>& unfinished) {
  check_all(unfinished);
  thread_ = std::thread([this] { run(); });
}

void CacheUpdater::check_soon(const std::string& name) {
  {
    const base::Lock lock(mutex_);
    // A file that is left out is reported again by the next request for it.
    if (requested_.size() >= kMaxRequested || !requested_.insert(name).second) return;
  }
  ::eventfd_write(wake_event_.get(), 1);
}

void CacheUpdater::note_demand(std::string_view name, std::int64_t size_bytes) {
  const std::int64_t bytes = memory_for(size_bytes) + FileCache::bookkeeping_bytes(name);
  if (bytes > cache_.limit_bytes()) return;
  wanted_.add(name, bytes);
  if (!has_demand_.load() && !has_demand_.exchange(true)) ::eventfd_write(wake_event_.get(), 1);
}

std::set<std::string> CacheUpdater::take_requested() {
  eventfd_t ignored = 0;
  ::eventfd_read(wake_event_.get(), &ignored);
  const base::Lock lock(mutex_);
  return std::exchange(requested_, {});
}

FolderListing CacheUpdater::list(const std::string& folder) {
  auto listing = list_files(root_, folder, [this](const std::string& below) {
    watch(below);
    return may_go_on();
  });
  unlisted_folders_.insert(listing.unlisted.begin(), listing.unlisted.end());
  if (!listing.unlisted.empty()) retry_later();
  return listing;
}

void CacheUpdater::watch(const std::string& folder) {
  const bool is_watched = watch_ && watch_->add(folder);
  if (is_watched && !is_silent(folder)) return;
  check_everything_at_ = base::Deadline::in_ms(kListEveryMs);
  if (is_watched) return;
  if (!std::exchange(is_watched_whole_, false)) return;
  base::log::warn(
      "not all of the served folder can be watched, it is listed every second instead "
      "hint=\"raise fs.inotify.max_user_watches\"");
}

bool CacheUpdater::is_silent(const std::string& folder) {
  const std::string path = folder.empty() ? root_ : root_ + "/" + folder;
  const std::string kind = silent_file_system(path);
  if (kind.empty()) return false;
  refresh_folder(path);
  if (!std::exchange(has_silent_folders_, true))
    base::log::info(
        "changes by other hosts are not reported here, all of the served folder is listed every "
        "second file_system={} folder={}",
        kind, base::log::quoted_long(folder));
  return true;
}

void CacheUpdater::run() {
  while (may_go_on()) {
    try {
      process_events(to_load_.empty() ? next_timer() : base::Deadline::in_ms(0));
      if (!to_load_.empty())
        load_next();
      else if (replace_at_.has_passed())
        replace_files();
    } catch (const std::exception&) {  // out of memory, or a bug
      start_over();
    }
  }
}

// Nothing is known about the changes that were being processed, so everything is checked again.
void CacheUpdater::start_over() {
  to_load_.clear();
  outdated_.clear();
  check_everything_at_ = base::Deadline::in_ms(kRetryMs);
  try {
    base::log::warn("out of memory while checking for changes, all files are checked again");
  } catch (const std::exception&) {
    // The line needs memory too.
  }
}

bool CacheUpdater::has_another_root() const {
  return cache_.times_root_was_opened_again() != known_root_;
}

base::Deadline CacheUpdater::next_timer() const {
  if (has_another_root()) return base::Deadline::in_ms(0);
  return earlier(earlier(check_everything_at_, replace_at_), earlier(recheck_at_, retry_at_));
}

// Does everything except loading. It waits for changes until the deadline.
void CacheUpdater::process_events(base::Deadline deadline) {
  apply(wait_for_changes(deadline));
  for (const std::string& name : take_requested()) check(name);
  // Any check, and any request, may have been the first to find that the root was replaced.
  if (has_another_root() || check_everything_at_.has_passed()) check_everything();
  if (recheck_at_.has_passed()) recheck_outdated();
  if (retry_at_.has_passed()) recheck_failed();
  if (has_demand_ && replace_at_.is_never()) replace_at_ = base::Deadline::in_ms(replace_pause_ms_);
}

FolderChanges CacheUpdater::wait_for_changes(base::Deadline deadline) {
  if (watch_) return watch_->wait(deadline, wake_event_.get(), mounts_.fd());
  net::wait_until_readable(wake_event_.get(), deadline);
  return {};
}

void CacheUpdater::apply(const FolderChanges& changes) {
  if (!changes.gone_folders.empty()) cache_.forget_below(changes.gone_folders);
  for (const std::string& folder : changes.new_folders) {
    if (!is_below(folder, changes.new_folders)) check_all(list(folder).files);
  }
  if (!changes.changed_folders.empty()) check_below(changes.changed_folders);
  check_closed_files(changes.files);
  if (changes.has_mounts) check_mounts();
  if (!changes.is_incomplete) return;
  base::log::warn("too many changes at once in the served folder, all of it is listed again");
  check_everything();
}

void CacheUpdater::check_all(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!may_go_on()) return;
    check(name);
  }
}

// The file was closed by a writer, or got its name just now, so its content is meant to be served.
// This is the only reason to drop the known version of an unsettled file. Without it, a writer
// still has the file open, and the known version is the last complete one.
void CacheUpdater::check_closed(const std::string& name) {
  const State state = cache_.check(name);
  record_state(name, state);
  if (state == State::kUnsettled && outdated_.at(name).serve_old_until.has_passed())
    cache_.serve_from_disk(name);
}

// inotify reports only the name through which a file was changed. So the other names of each file
// are checked too.
void CacheUpdater::check_closed_files(const Names& names) {
  std::set<ino_t> checked;
  for (const std::string& name : names) {
    if (!may_go_on()) return;
    check_closed(name);
    const ino_t inode = cache_.inode_of(name);
    if (inode == 0 || !checked.insert(inode).second) continue;
    for (const std::string& other : cache_.names_of(inode)) {
      if (other != name) check_closed(other);
    }
  }
}

// Checks each file once, whether it is in the folder, or in the cache, or both.
void CacheUpdater::check_below(const Names& folders) {
  std::vector<std::string> names = cache_.names_below(folders);
  for (const std::string& folder : folders) {
    if (is_below(folder, folders)) continue;
    auto listed = list(folder).files;
    names.insert(names.end(), std::make_move_iterator(listed.begin()),
                 std::make_move_iterator(listed.end()));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  check_all(names);
}

// What is mounted or unmounted below the root is a file, or a folder. Afterwards everything is
// checked, because a mount may have taken the watch of another folder (FolderWatch::add).
void CacheUpdater::check_mounts() {
  const Names changed = mounts_.changed_below(root_);
  if (changed.empty()) return;
  for (const std::string& name : changed) check(name);
  check_below(changed);
  check_everything_at_ = base::Deadline::in_ms(0);
}

// Also tries to watch every folder again.
void CacheUpdater::check_everything() {
  check_everything_at_ = base::Deadline::never();
  known_root_ = cache_.times_root_was_opened_again();
  if (!watch_) open_watch();
  check_below({""});
  if (!check_everything_at_.is_never()) {
    check_everything_at_ = base::Deadline::in_ms(kListEveryMs);  // from now, however long it took
  } else if (!std::exchange(is_watched_whole_, true)) {
    base::log::info("all of the served folder is watched again");
  }
}

void CacheUpdater::recheck_outdated() {
  recheck_at_ = base::Deadline::never();
  for (auto next = outdated_.begin(); next != outdated_.end();) {
    auto& [name, outdated] = *next++;
    if (!outdated.is_stale) {
      check(std::string(name));  // a copy, because the check may erase `name`
    } else if (outdated.serve_old_until.has_passed()) {
      cache_.serve_from_disk(name);
      outdated.serve_old_until = base::Deadline::never();
    }
  }
  if (!outdated_.empty()) recheck_at_ = base::Deadline::in_ms(kRecheckMs);
}

void CacheUpdater::recheck_failed() {
  retry_at_ = base::Deadline::never();
  for (const std::string& folder : std::exchange(unlisted_folders_, {}))
    check_all(list(folder).files);
  for (const std::string& name : std::exchange(unchecked_files_, {})) check(name);
  if (retry_at_.is_never()) is_out_of_resources_ = false;
}

void CacheUpdater::load_next() {
  const auto next = to_load_.upper_bound(last_loaded_);
  last_loaded_ = next != to_load_.end() ? *next : *to_load_.begin();
  load(last_loaded_);
}

void CacheUpdater::load(const std::string& name) {
  const auto between_pieces = [this] {
    process_events(base::Deadline::in_ms(0));
    return may_go_on();
  };
  record_state(name, cache_.load(name, {piece_bytes_, between_pieces}));
}

// Changes of the folder come before each file, and what is stale takes turns with them.
void CacheUpdater::replace_files() {
  replace_at_ = base::Deadline::never();
  has_demand_ = false;
  const std::int64_t start_ns = base::now_ns();
  forget_old_demand();
  const auto found = next_replacements();
  const std::int64_t needed_ms = (base::now_ns() - start_ns) / base::kNsPerMs;
  replace_pause_ms_ = std::max(kReplaceEveryMs, static_cast<int>(kReplacePart * needed_ms));
  for (const auto& [out, in] : found) {
    process_events(base::Deadline::in_ms(0));
    if (!may_go_on()) return;
    if (!to_load_.empty()) load_next();
    wanted_.remove(in.name);
    const auto known = cache_.find(in.name);
    const bool is_in = known && known->file;  // it has come meanwhile
    if (is_in || !cache_.may_come_in(in.name, in.bytes)) continue;
    for (const std::string& name : out) cache_.forget(name);
    load(in.name);
    cache_.ask_for(in.name, in.times);
  }
}

std::vector<Replacement> CacheUpdater::next_replacements() const {
  const std::vector<Demand> outside = wanted_.most(kMostReplaced);
  if (outside.empty()) return {};
  const std::int64_t most_bytes = cache_.limit_bytes() / kMemoryAtOnce;
  std::int64_t wanted_bytes = 0;
  std::int64_t largest_bytes = 0;
  std::uint32_t most_times = 0;
  for (const Demand& file : outside) {
    wanted_bytes += file.bytes;
    largest_bytes = std::max(largest_bytes, file.bytes);
    most_times = std::max(most_times, file.times);
  }
  const auto inside =
      cache_.least_wanted(std::min(wanted_bytes, std::max(most_bytes, largest_bytes)), most_times);
  return replacements(outside, inside, cache_.limit_bytes() - cache_.used_bytes(), most_bytes);
}

// A file in memory is remembered for some 32 requests on average.
void CacheUpdater::forget_old_demand() {
  constexpr std::int64_t kTimes = 32;
  constexpr std::int64_t kFewestFiles = 32;
  constexpr std::int64_t kMostFiles = 100'000;
  const std::uint64_t times = cache_.times() + wanted_.times();
  const auto most = static_cast<std::uint64_t>(
      kTimes * std::clamp(cache_.files_in_memory(), kFewestFiles, kMostFiles));
  int halvings = 0;
  while (times >> halvings > most) ++halvings;
  if (halvings > 0) cache_.forget_old_times(halvings);
  wanted_.forget_old(halvings);
}

void CacheUpdater::record_state(const std::string& name, State state) {
  to_load_.erase(name);
  switch (state) {
    case State::kCurrent: outdated_.erase(name); return;
    case State::kUnchecked:
      outdated_.erase(name);
      unchecked_files_.insert(name);
      retry_later();
      return;
    case State::kStale:
    case State::kUnsettled: break;
  }
  const auto serve_old_until = base::Deadline::in_ms(kServeOldMs);
  auto& outdated = outdated_.try_emplace(name, Outdated{serve_old_until, false}).first->second;
  outdated.is_stale = state == State::kStale;
  if (outdated.is_stale) to_load_.insert(name);
  if (recheck_at_.is_never()) recheck_at_ = base::Deadline::in_ms(kRecheckMs);
}

void CacheUpdater::retry_later() {
  if (retry_at_.is_never()) retry_at_ = base::Deadline::in_ms(kRetryMs);
  if (std::exchange(is_out_of_resources_, true)) return;
  base::log::warn(
      "some files cannot be checked for changes, their known versions are served; retrying "
      "hint=\"out of descriptors or memory, or a disk failed\"");
}

}  // namespace fileserver
