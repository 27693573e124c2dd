// The files that this server has put into the folder, as they were when they got their names.
#pragma once

#include <array>
#include <optional>

#include "base/mutex.h"
#include "fileserver/files/file_version.h"

namespace fileserver {

// A file that has just got its name.
struct NamedFile {
  FileVersion version;  // from before anybody else could open it

  // Whether its modification time is its own (UploadTimes::give()): whoever changes it from now on
  // gives it another one, and would have to set it back in the same tick of the clock.
  bool has_own_time = true;

  // The version now. Nothing if somebody has changed the file since, or may have changed it.
  std::optional<FileVersion> version_now(int fd) const;
};

// The versions of uploads. Such a version may be read before it is settled, because a later change
// gives the file another time.
//
// Any thread.
class OwnVersions {
 public:
  // Forgets an earlier version whose inode has the same slot.
  void note(const FileVersion& version) EXCLUDES(mutex_);

  bool has(const FileVersion& version) const EXCLUDES(mutex_);

 private:
  static constexpr std::size_t kSlots = 1024;

  mutable base::Mutex mutex_;
  std::array<FileVersion, kSlots> versions_ GUARDED_BY(mutex_) = {};  // by inode
};

}  // namespace fileserver
