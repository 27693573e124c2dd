// What is in the served folder, and what changes there (inotify).
#pragma once

#include <sys/inotify.h>

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/fd.h"

namespace fileserver {

struct FolderListing {
  std::vector<std::string> files;  // sorted

  // Folders that were not read to their end because of an is_system_failure() (fence.h). List them
  // again later.
  std::vector<std::string> unlisted;
};

// Lists all regular files below root/folder; `folder` is "" for the whole root. All names are
// relative to the root. Links are not followed. A folder that may not be read, or that is gone, is
// skipped. Calls on_folder() with each folder before that folder is read.
FolderListing list_files(const std::string& root, const std::string& folder,
                         const std::function<void(const std::string& folder)>& on_folder);

// What happened since the last call of FolderWatch::wait(). All names are relative to the root.
struct FolderChanges {
  // Closed by a writer, linked, renamed or removed: check what is there now.
  std::set<std::string> files;

  // Renamed or removed: everything below is gone.
  std::set<std::string> gone_folders;

  // Made or renamed: list them. They are watched already.
  std::set<std::string> new_folders;

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
  // two would be lost.
  bool add(const std::string& folder);

  // Waits for changes until the deadline, or until `wake_fd` is readable. Returns all that have
  // come, and watches new folders that it reports.
  FolderChanges wait(base::Deadline deadline, int wake_fd);

 private:
  FolderWatch(net::Fd inotify, std::string root)
      : inotify_(std::move(inotify)), root_(std::move(root)) {}
  void note(const ::inotify_event& event, FolderChanges& changes);
  void forget_below(const std::string& folder);

  net::Fd inotify_;
  std::string root_;
  std::unordered_map<int, std::string> folder_of_watch_;
};

}  // namespace fileserver
