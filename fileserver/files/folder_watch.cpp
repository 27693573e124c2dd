#include "fileserver/files/folder_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "fileserver/files/folder_tree.h"

namespace fileserver {

namespace {

// A file that was only made is not listed before its writer closes it, save for a second name of a
// finished one.
constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                  IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK;

bool is_further_name(const std::string& path) {
  std::error_code gone;
  return std::filesystem::hard_link_count(path, gone) > 1 && !gone;
}

}  // namespace

base::Result<FolderWatch> FolderWatch::on(const std::string& root) {
  net::Fd inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify.is_open())
    return base::errno_error(base::ErrorCode::kUnavailable, "watch " + root, errno);
  return FolderWatch(std::move(inotify), root);
}

bool FolderWatch::add(const std::string& folder) {
  // The root may be a link; what is below it may not.
  const std::uint32_t events =
      folder.empty() ? kEvents & ~static_cast<std::uint32_t>(IN_DONT_FOLLOW) : kEvents;
  const std::string path = folder.empty() ? root_ : joined(root_, folder);
  const int watch = ::inotify_add_watch(inotify_.get(), path.c_str(), events);
  if (watch < 0)
    return errno == ENOENT || errno == ENOTDIR || errno == EACCES;  // gone again: nothing to watch
  folder_of_watch_[watch] = folder;
  return true;
}

FolderChanges FolderWatch::wait(base::Deadline deadline, int stop_fd) {
  FolderChanges changes;
  pollfd waiting[] = {{inotify_.get(), POLLIN, 0}, {stop_fd, POLLIN, 0}};
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
    if (event.mask != IN_CREATE || is_further_name(joined(root_, name))) changes.files.insert(name);
  } else if (is_gone) {
    changes.gone_folders.insert(name);
    forget_below(name);
  } else {
    changes.new_folders.insert(name);
    add(name);
  }
}

// A folder that was moved out would go on telling of itself under its old name.
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
