// Notices file systems and files that are mounted below the served folder, and unmounted.
#pragma once

#include <set>
#include <string>

#include "fileserver/files/folder_watch.h"
#include "net/fd.h"

namespace fileserver {

// One thread. inotify reports neither a mount nor the end of a bind mount. The kernel's list of
// mounts reports both.
class MountWatch {
 public:
  // Watches nothing. So does open() where the system has no /proc/self/mountinfo.
  MountWatch() = default;

  // Opens the kernel's list. Requires: it is called before guard::restrict_to(), which would deny
  // it. Changes from then on are noticed.
  static MountWatch open();

  // poll() reports POLLPRI once for each change of any mount. -1 if nothing is watched.
  int fd() const { return list_.get(); }

  // The folders and files below `root` on which something was mounted or unmounted since the last
  // call, relative to the root. The first call returns all that is mounted there. `root` is an
  // absolute path without links, or a link to such a path, as Fence::root_path().
  //
  // A mount on the root itself, or above it, is left out: the served folder is the one below it.
  Names changed_below(const std::string& root);

 private:
  explicit MountWatch(net::Fd list) : list_(std::move(list)) {}

  // One line for each mount: which one it is, what of it is mounted, and where.
  using Mounts = std::set<std::string>;
  std::string read_list() const;

  net::Fd list_;
  Mounts known_;
};

}  // namespace fileserver
