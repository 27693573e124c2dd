// An open folder, whose names are read one after the other.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <memory>

namespace fileserver {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// Null: it cannot be opened.
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

// DT_REG, DT_DIR and so on; DT_UNKNOWN if the entry is gone.
inline unsigned char type_of(const dirent& entry, const OpenFolder& folder) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type;
  struct stat status {};
  if (::fstatat(::dirfd(folder.get()), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
    return DT_UNKNOWN;
  return static_cast<unsigned char>(IFTODT(status.st_mode));
}

}  // namespace fileserver
