// File systems whose files other hosts change, or a program behind the kernel does (FUSE). inotify
// reports only what was changed through this kernel.
#pragma once

#include <string>

namespace fileserver {

// The name of the file system that the folder is on, such as "nfs", if inotify may not report all
// of its changes. Empty for local file systems, and when the folder is gone.
std::string silent_file_system(const std::string& folder);

// Whether close() of this file never waits for anybody: it is on a file system of this kernel's
// disks or memory that is known here.
bool closes_at_once(int fd);

// Asks the other host for what it has now, because what is known of a folder may be kept for half a
// minute. No effect on local file systems.
void refresh_folder(const std::string& folder);

}  // namespace fileserver
