#include "fileserver/files/folder_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "fileserver/files/fence.h"
#include "fileserver/files/open_folder.h"
#include "fileserver/files/upload_name.h"

namespace fileserver {

namespace {

namespace fs = std::filesystem;

// IN_CREATE is for folders and hard links. A file that is only made is not reported: its writer
// closes it later. IN_ATTRIB is for permissions.
constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                  IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR | IN_DONT_FOLLOW |
                                  IN_EXCL_UNLINK;

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr int kMaxReads = 16;  // in one wait(), however fast new changes come

// Adds the names of the folder `here` to the listing, and to `folders`. Returns 0 or an errno.
// The iterator of std::filesystem ends the program when it finds no memory.
int list_folder(const std::string& path, const std::string& here, FolderListing& listing,
                std::vector<std::string>& folders) {
  const OpenFolder folder(::opendir(path.c_str()));
  if (folder == nullptr) return errno;
  while (const dirent* const entry = next_entry(folder)) {
    if (is_upload_name(entry->d_name)) continue;
    const unsigned char type = type_of(*entry, folder);
    if (type == DT_DIR)
      folders.push_back(joined(here, entry->d_name));
    else if (type == DT_REG)
      listing.files.push_back(joined(here, entry->d_name));
  }
  return errno;
}

bool has_several_names(const std::string& path) {
  std::error_code gone;
  return fs::hard_link_count(path, gone) > 1 && !gone;
}

}  // namespace

bool is_below(std::string_view name, const Names& folders) {
  if (name.empty()) return false;
  if (folders.contains("")) return true;
  for (std::size_t slash = name.find('/'); slash != std::string_view::npos;
       slash = name.find('/', slash + 1)) {
    if (folders.contains(name.substr(0, slash))) return true;
  }
  return false;
}

FolderListing list_files(const std::string& root, const std::string& folder,
                         const std::function<bool(const std::string& folder)>& on_folder) {
  FolderListing listing;
  std::vector<std::string> folders = {folder};
  while (!folders.empty()) {
    const std::string here = std::move(folders.back());
    folders.pop_back();
    if (!on_folder(here)) break;
    std::string path = root;
    path.append("/").append(here);
    const int failure = list_folder(path, here, listing, folders);
    if (is_system_failure(failure)) listing.unlisted.push_back(here);
    if (failure == EACCES) listing.forbidden.push_back(here);
    if (failure == 0 && ::access(path.c_str(), X_OK) != 0 && errno == EACCES)
      listing.closed.push_back(here);
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

std::string FolderWatch::path_of(const std::string& folder) const {
  return folder.empty() ? root_ : joined(root_, folder);
}

FolderWatch::Folder FolderWatch::look_at(const std::string& folder) const {
  const std::string path = path_of(folder);
  return {folder, ::access(path.c_str(), X_OK) == 0, ::access(path.c_str(), R_OK) == 0};
}

bool FolderWatch::add(const std::string& folder) {
  // Only the root may be a link.
  const std::uint32_t events =
      folder.empty() ? kEvents & ~static_cast<std::uint32_t>(IN_DONT_FOLLOW) : kEvents;
  const int watch = ::inotify_add_watch(inotify_.get(), path_of(folder).c_str(), events);
  if (watch < 0) return errno == ENOENT || errno == ENOTDIR || errno == EACCES;  // nothing to watch
  const auto before = watch_of_folder_.find(folder);
  if (before != watch_of_folder_.end() && before->second != watch) forget_hidden(before);
  folder_of_watch_[watch] = look_at(folder);
  watch_of_folder_[folder] = watch;
  return true;
}

FolderChanges FolderWatch::wait(base::Deadline deadline, int wake_fd, int mounts_fd) {
  FolderChanges changes;
  pollfd waiting[] = {{inotify_.get(), POLLIN, 0}, {wake_fd, POLLIN, 0}, {mounts_fd, POLLPRI, 0}};
  if (::poll(waiting, std::size(waiting), deadline.left_ms()) <= 0) return changes;
  changes.has_mounts = (waiting[2].revents & POLLPRI) != 0;
  if (waiting[0].revents == 0) return changes;
  alignas(inotify_event) std::array<char, kReadBytes> buffer;
  for (int i = 0; i < kMaxReads; ++i) {
    const ssize_t got = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (got <= 0) break;
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
  const auto found = folder_of_watch_.find(event.wd);
  if (found == folder_of_watch_.end()) return;
  const std::string here = found->second.name;
  if ((event.mask & IN_IGNORED) != 0) {
    folder_of_watch_.erase(found);
    const auto watched = watch_of_folder_.find(here);
    if (watched != watch_of_folder_.end() && watched->second == event.wd)
      watch_of_folder_.erase(watched);
  } else if (event.len == 0) {
    if ((event.mask & IN_ATTRIB) != 0) note_attributes(here, changes);
    if ((event.mask & IN_UNMOUNT) != 0) changes.changed_folders.insert(here);
  } else if (is_upload_name(event.name)) {
    return;
  } else if (const std::string name = joined(here, event.name); (event.mask & IN_ISDIR) != 0) {
    note_folder(event, name, changes);
  } else if (event.mask != IN_CREATE || has_several_names(joined(root_, name))) {
    changes.files.insert(name);
  }
}

void FolderWatch::note_folder(const inotify_event& event, const std::string& folder,
                              FolderChanges& changes) {
  if ((event.mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
    changes.gone_folders.insert(folder);
    forget_below(folder);
  } else if ((event.mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
    changes.new_folders.insert(folder);
    add(folder);
  } else {
    note_attributes(folder, changes);
  }
}

// Most changes of a folder's attributes only set its times.
void FolderWatch::note_attributes(const std::string& folder, FolderChanges& changes) {
  const auto watched = watch_of_folder_.find(folder);
  if (watched == watch_of_folder_.end()) {
    changes.changed_folders.insert(folder);
    return;
  }
  Folder& before = folder_of_watch_[watched->second];
  Folder now = look_at(folder);
  if (now.may_enter != before.may_enter || now.may_list != before.may_list)
    changes.changed_folders.insert(folder);
  before = std::move(now);
}

void FolderWatch::forget(std::map<std::string, int>::iterator watched) {
  ::inotify_rm_watch(inotify_.get(), watched->second);
  folder_of_watch_.erase(watched->second);
  watch_of_folder_.erase(watched);
}

// The folder is below a mount now, or its mount is gone. A folder that is mounted in two places has
// one watch, which belongs to the name that was added last.
void FolderWatch::forget_hidden(std::map<std::string, int>::iterator watched) {
  const auto folder = folder_of_watch_.find(watched->second);
  if (folder != folder_of_watch_.end() && folder->second.name == watched->first) forget(watched);
}

// Without this, a folder that was moved away would still report changes under its old name.
void FolderWatch::forget_below(const std::string& folder) {
  if (const auto itself = watch_of_folder_.find(folder); itself != watch_of_folder_.end())
    forget(itself);
  // '0' is the character after '/', so these are all names that begin with "folder/".
  const auto end = watch_of_folder_.lower_bound(folder + "0");
  for (auto next = watch_of_folder_.lower_bound(folder + "/"); next != end;) forget(next++);
}

}  // namespace fileserver
