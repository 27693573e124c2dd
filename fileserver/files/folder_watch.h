// What is in the served folder, and what changes there (inotify).
#pragma once

#include <sys/inotify.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/fd.h"

namespace fileserver {

using Names = std::set<std::string, std::less<>>;

// Whether the file or folder is below one of the folders. All names are relative to the root, which
// is "" itself.
bool is_below(std::string_view name, const Names& folders);

struct FolderListing {
  std::vector<std::string> files;  // sorted

  // Folders that were not read to their end because of an is_system_failure() (fence.h). List them
  // again later.
  std::vector<std::string> unlisted;

  // Folders whose permissions forbid to list them.
  std::vector<std::string> forbidden;

  // Those that could be listed, but cannot be entered. Their files are in `files`.
  std::vector<std::string> closed;
};

// Lists all regular files below root/folder; `folder` is "" for the whole root. All names are
// relative to the root. Links are not followed. A folder that may not be read, or that is gone, is
// skipped. Calls on_folder() with each folder before that folder is read. Once on_folder() returns
// false, the listing ends early.
FolderListing list_files(const std::string& root, const std::string& folder,
                         const std::function<bool(const std::string& folder)>& on_folder);

// What happened since the last call of FolderWatch::wait(). All names are relative to the root.
struct FolderChanges {
  // Closed by a writer, linked, renamed, removed, or with other permissions or times: check what is
  // there now.
  Names files;

  // Renamed or removed: everything below is gone.
  Names gone_folders;

  // Made or renamed: list them. They are watched already.
  Names new_folders;

  // May now be entered or listed, or may no longer be, or were unmounted: check everything below.
  Names changed_folders;

  // Something was mounted or unmounted, here or elsewhere.
  bool has_mounts = false;

  // Some changes were lost because there were too many: check everything.
  bool is_incomplete = false;
};

// One thread.
class FolderWatch {
 public:
  // Watches nothing until add() is called. kUnavailable when the system allows no more watchers.
  static base::Result<FolderWatch> on(const std::string& root);

  // Watches one folder, but not those below it. `folder` is relative to the root. Returns false
  // when the system allows no more watches. A folder that is gone, or may not be read, needs no
  // watch: true. Requires: it is called before the folder is listed, because changes between the
  // two would be lost. If another folder has its name now, that one is watched instead.
  bool add(const std::string& folder);

  // Waits for changes until the deadline, or until `wake_fd` is readable. Returns those that have
  // come, but not more than 1 MiB of them at once. Watches new folders that it reports.
  // `mounts_fd`: of a MountWatch, or -1.
  FolderChanges wait(base::Deadline deadline, int wake_fd, int mounts_fd = -1);

 private:
  FolderWatch(net::Fd inotify, std::string root)
      : inotify_(std::move(inotify)), root_(std::move(root)) {}
  struct Folder {
    std::string name;
    bool may_enter;  // as of the last look
    bool may_list;
  };

  std::string path_of(const std::string& folder) const;
  Folder look_at(const std::string& folder) const;
  void note(const ::inotify_event& event, FolderChanges& changes);
  void note_folder(const ::inotify_event& event, const std::string& folder, FolderChanges& changes);
  void note_attributes(const std::string& folder, FolderChanges& changes);
  void forget(std::map<std::string, int>::iterator watched);
  void forget_hidden(std::map<std::string, int>::iterator watched);
  void forget_below(const std::string& folder);

  net::Fd inotify_;
  std::string root_;
  std::unordered_map<int, Folder> folder_of_watch_;
  std::map<std::string, int> watch_of_folder_;
};

}  // namespace fileserver
