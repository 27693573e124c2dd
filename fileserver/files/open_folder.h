// An open folder, whose names are read one after the other.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "net/fd.h"

namespace fileserver {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// Null: it cannot be opened.
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

// Opens the folder `name` in another one, to read its names from the first one on. No link is
// followed. Null with errno.
inline OpenFolder open_names(int folder, const char* name = ".") {
  net::Fd fd(::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  OpenFolder names(fd.is_open() ? ::fdopendir(fd.get()) : nullptr);
  if (names != nullptr) fd.release();
  return names;
}

// The next entry but "." and "..". Null behind the last one, with errno 0, and on failure.
inline const dirent* next_entry(const OpenFolder& folder) {
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(folder.get());
    if (entry == nullptr) return nullptr;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return entry;
  }
}

// DT_REG, DT_DIR and so on; DT_UNKNOWN if the entry is gone.
inline unsigned char type_of(const dirent& entry, const OpenFolder& folder) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type;
  struct stat status {};
  if (::fstatat(::dirfd(folder.get()), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
    return DT_UNKNOWN;
  return static_cast<unsigned char>(IFTODT(status.st_mode));
}

}  // namespace fileserver
