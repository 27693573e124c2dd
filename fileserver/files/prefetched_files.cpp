#include "fileserver/files/prefetched_files.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "base/units.h"
#include "fileserver/files/folder_tree.h"
#include "fileserver/files/parallel.h"
#include "net/socket_io.h"

namespace fileserver {

namespace {

using base::ErrorCode;

constexpr int kTryAgainMs = 50;         // a file that was being changed
constexpr int kUnwatchedLookMs = 1000;  // how often a folder that cannot be watched is listed

}  // namespace

PrefetchedFiles::PrefetchedFiles(std::shared_ptr<const Fence> fence, std::string root, std::int64_t memory_limit_bytes)
    : fence_(std::move(fence)),
      root_(std::move(root)),
      disk_(fence_),
      budget_(memory_limit_bytes),
      stop_event_(::eventfd(0, EFD_CLOEXEC)) {
  const std::int64_t start_ns = base::now_ns();
  if (auto watch = FolderWatch::on(root_)) watch_.emplace(std::move(*watch));
  read_all(list_files(root_, "", [this](const std::string& folder) { watch_folder(folder); }));
  if (!watch_ || !is_watch_complete_) {
    base::log::warn(
        "the served folder cannot be watched whole, it is listed every second instead "
        "hint=\"raise fs.inotify.max_user_watches\"");
  }
  log_what_was_read(static_cast<double>(base::now_ns() - start_ns) / 1e9);
  follower_ = std::thread([this] { follow_folder(); });
}

PrefetchedFiles::~PrefetchedFiles() {
  ::eventfd_write(stop_event_.get(), 1);
  follower_.join();
}

base::Status PrefetchedFiles::send(std::string_view name, serve::Connection& connection) {
  auto file = table_.find(name);
  if (!file) {
    const auto real_name = fence_->name_behind_links(name);
    if (!real_name) return real_name.error();
    file = table_.find(*real_name);
  }
  if (!file) return base::Error{ErrorCode::kNotFound, "not in the served folder"};
  if (!file->data) return disk_.send(name, connection);
  connection.reply_with(file->bytes());
  return base::kDone;
}

void PrefetchedFiles::watch_folder(const std::string& folder) {
  if (!watch_ || !watch_->add(folder)) is_watch_complete_ = false;
}

void PrefetchedFiles::read_all(const std::vector<std::string>& names) {
  base::Mutex mutex;
  for_each_in_parallel(
      names.size(),
      [&](std::size_t i) {
        if (refresh(names[i])) return;
        const base::Lock lock(mutex);
        to_refresh_.insert(names[i]);
      },
      [&](std::size_t done, double seconds) {
        const auto bytes = static_cast<double>(budget_.used_bytes());
        const double left_s =
            seconds * static_cast<double>(names.size() - done) / static_cast<double>(std::max(done, std::size_t{1}));
        base::log::info("prefetching files={}/{} read=\"{}\" rate=\"{}/s\" left_s={:.0f}", done, names.size(),
                        base::human_bytes(bytes), base::human_bytes(bytes / seconds), left_s);
      });
}

void PrefetchedFiles::log_what_was_read(double seconds) const {
  std::size_t in_memory = 0;
  std::size_t from_disk = 0;
  for (const std::string& name : table_.names()) ++(table_.find(name)->data ? in_memory : from_disk);
  base::log::info("prefetched files={} memory=\"{}\" seconds={:.2f} direct_io={}", in_memory,
                  base::human_bytes(static_cast<double>(budget_.used_bytes())), seconds, !direct_.is_refused());
  if (from_disk > 0) base::log::warn("files over --memory-limit are served from disk files={}", from_disk);
}

bool PrefetchedFiles::refresh(const std::string& name) {
  const auto status = fence_->look_at(name, Fence::Links::kRefused);
  if (!status) {
    table_.erase(name);
    return true;
  }
  const FileVersion version = version_in(*status);
  const auto known = table_.find(name);
  if (known && known->data && have_same_content(known->version, version)) return true;

  auto share = budget_.take(memory_for(version.size_bytes), known ? known->share.bytes() : 0);
  if (!share) {
    table_.put(name, on_disk(version));
    return true;
  }
  auto file = read_whole_file(*fence_, name, std::move(*share), direct_);
  if (file) {
    table_.put(name, std::make_shared<const WholeFile>(std::move(*file)));
    return true;
  }
  switch (file.error().code) {
    case ErrorCode::kUnavailable:
      // Until then from disk, where each request sees for itself whether the file holds still.
      if (!known) table_.put(name, on_disk(version));
      return false;
    case ErrorCode::kNotFound: table_.erase(name); return true;
    default:
      base::log::warn("cannot prefetch, served from disk reason={}", base::log::quoted(file.error().context));
      table_.put(name, on_disk(version));
      return true;
  }
}

FileTable::Entry PrefetchedFiles::on_disk(FileVersion version) const {
  return std::make_shared<const WholeFile>(WholeFile{version, MemoryShare(), nullptr});
}

void PrefetchedFiles::follow_folder() {
  while (!net::wait_until_readable(stop_event_.get(), base::Deadline::in_ms(0))) {
    auto deadline = base::Deadline::never();
    if (!watch_ || !is_watch_complete_) deadline = base::Deadline::in_ms(kUnwatchedLookMs);
    if (!to_refresh_.empty()) deadline = base::Deadline::in_ms(kTryAgainMs);
    if (watch_) {
      apply(watch_->wait(deadline, stop_event_.get()));
    } else {
      net::wait_until_readable(stop_event_.get(), deadline);
    }
    if (!watch_ || !is_watch_complete_) look_at_everything();
    std::erase_if(to_refresh_, [this](const std::string& name) { return refresh(name); });
  }
}

void PrefetchedFiles::apply(const FolderChanges& changes) {
  for (const std::string& folder : changes.gone_folders) table_.erase_below(folder + "/");
  for (const std::string& folder : changes.new_folders) {
    refresh_later(list_files(root_, folder, [this](const std::string& below) { watch_folder(below); }));
  }
  to_refresh_.insert(changes.files.begin(), changes.files.end());
  if (changes.is_incomplete) {
    base::log::warn("too many changes at once in the served folder, all of it is listed again");
    look_at_everything();
  }
}

// Refreshing a file that has not changed costs one look at it, and one that is gone is taken off.
void PrefetchedFiles::look_at_everything() {
  refresh_later(list_files(root_, "", [this](const std::string& folder) {
    if (watch_) watch_->add(folder);
  }));
  refresh_later(table_.names());
}

}  // namespace fileserver
