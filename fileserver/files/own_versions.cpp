#include "fileserver/files/own_versions.h"

namespace fileserver {

std::optional<FileVersion> NamedFile::version_now(int fd) const {
  const FileVersion now = version_of(fd);
  const bool is_same = has_own_time && now.size_bytes == version.size_bytes &&
                       now.modified_ns == version.modified_ns;
  return is_same ? std::optional(now) : std::nullopt;
}

void OwnVersions::note(const FileVersion& version) {
  const base::Lock lock(mutex_);
  versions_[version.inode % kSlots] = version;
}

bool OwnVersions::has(const FileVersion& version) const {
  const base::Lock lock(mutex_);
  return have_same_content(versions_[version.inode % kSlots], version);
}

}  // namespace fileserver
