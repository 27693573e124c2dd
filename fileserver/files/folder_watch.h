// Tells what changes in the served folder, subfolders included (inotify).
#pragma once

#include <sys/inotify.h>

#include <set>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/result.h"
#include "net/fd.h"

namespace fileserver {

// What happened since the last look. Names are relative to the root.
struct FolderChanges {
  std::set<std::string>
      files;  // made, closed after writing, moved in or out, or removed: look what is there now
  std::set<std::string> gone_folders;  // moved out or removed, with all below
  std::set<std::string> new_folders;   // made or moved in: look at all below
  bool is_incomplete = false;          // some changes were lost: look at everything
};

// One thread.
class FolderWatch {
 public:
  // kUnavailable when the system gives us no watch.
  static base::Result<FolderWatch> on(const std::string& root);

  // Watches one folder, by its relative name. False when the system has no watch left for it.
  // Requires: called before its files are listed, or changes between would be lost.
  bool add(const std::string& folder);

  // Waits for changes until the deadline, or until `stop_fd` is readable.
  FolderChanges wait(base::Deadline deadline, int stop_fd);

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
