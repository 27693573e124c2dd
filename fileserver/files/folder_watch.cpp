#include "fileserver/files/folder_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "fileserver/files/fence.h"

namespace fileserver {

namespace {

namespace fs = std::filesystem;

// IN_CREATE is for folders and hard links. A file that is only made is not reported: its writer
// closes it later.
constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                  IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK;

// "a" and "b" make "a/b"; "" and "b" make "b".
std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

bool has_several_names(const std::string& path) {
  std::error_code gone;
  return fs::hard_link_count(path, gone) > 1 && !gone;
}

}  // namespace

FolderListing list_files(const std::string& root, const std::string& folder,
                         const std::function<void(const std::string& folder)>& on_folder) {
  FolderListing listing;
  std::vector<std::string> folders = {folder};
  while (!folders.empty()) {
    const std::string here = std::move(folders.back());
    folders.pop_back();
    on_folder(here);
    std::error_code failure;
    const fs::path path = fs::path(root) / here;
    for (fs::directory_iterator entry(path, failure), end; !failure && entry != end;
         entry.increment(failure)) {
      std::error_code gone;
      const fs::file_type kind = entry->symlink_status(gone).type();
      std::string name = joined(here, entry->path().filename().string());
      if (kind == fs::file_type::directory)
        folders.push_back(std::move(name));
      else if (kind == fs::file_type::regular)
        listing.files.push_back(std::move(name));
    }
    if (is_system_failure(failure.value())) listing.unlisted.push_back(here);
  }
  std::sort(listing.files.begin(), listing.files.end());
  return listing;
}

base::Result<FolderWatch> FolderWatch::on(const std::string& root) {
  net::Fd inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify.is_open())
    return base::errno_error(base::ErrorCode::kUnavailable, "watch " + root, errno);
  return FolderWatch(std::move(inotify), root);
}

bool FolderWatch::add(const std::string& folder) {
  // Only the root may be a link.
  const std::uint32_t events =
      folder.empty() ? kEvents & ~static_cast<std::uint32_t>(IN_DONT_FOLLOW) : kEvents;
  const std::string path = folder.empty() ? root_ : joined(root_, folder);
  const int watch = ::inotify_add_watch(inotify_.get(), path.c_str(), events);
  if (watch < 0) return errno == ENOENT || errno == ENOTDIR || errno == EACCES;  // nothing to watch
  folder_of_watch_[watch] = folder;
  return true;
}

FolderChanges FolderWatch::wait(base::Deadline deadline, int wake_fd) {
  FolderChanges changes;
  pollfd waiting[] = {{inotify_.get(), POLLIN, 0}, {wake_fd, POLLIN, 0}};
  if (::poll(waiting, 2, deadline.left_ms()) <= 0 || waiting[0].revents == 0) return changes;
  alignas(inotify_event) std::array<char, 64 * 1024> buffer;
  for (ssize_t got = 0; (got = ::read(inotify_.get(), buffer.data(), buffer.size())) > 0;) {
    for (const char* at = buffer.data(); at < buffer.data() + got;) {
      const auto& event = *reinterpret_cast<const inotify_event*>(at);
      note(event, changes);
      at += sizeof event + event.len;
    }
  }
  return changes;
}

void FolderWatch::note(const inotify_event& event, FolderChanges& changes) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) changes.is_incomplete = true;
  const auto folder = folder_of_watch_.find(event.wd);
  if (folder == folder_of_watch_.end()) return;
  if ((event.mask & IN_IGNORED) != 0) {
    folder_of_watch_.erase(folder);
    return;
  }
  if (event.len == 0) return;
  const std::string name = joined(folder->second, event.name);
  const bool is_gone = (event.mask & (IN_DELETE | IN_MOVED_FROM)) != 0;
  if ((event.mask & IN_ISDIR) == 0) {
    if (event.mask != IN_CREATE || has_several_names(joined(root_, name)))
      changes.files.insert(name);
  } else if (is_gone) {
    changes.gone_folders.insert(name);
    forget_below(name);
  } else {
    changes.new_folders.insert(name);
    add(name);
  }
}

// Without this, a folder that was moved away would still report changes under its old name.
void FolderWatch::forget_below(const std::string& folder) {
  for (auto watch = folder_of_watch_.begin(); watch != folder_of_watch_.end();) {
    if (watch->second == folder || watch->second.starts_with(folder + "/")) {
      ::inotify_rm_watch(inotify_.get(), watch->first);
      watch = folder_of_watch_.erase(watch);
    } else {
      ++watch;
    }
  }
}

}  // namespace fileserver
