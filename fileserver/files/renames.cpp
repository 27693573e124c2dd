#include "fileserver/files/renames.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace fileserver {

namespace {

constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE, which not all C libraries have

bool rename_with(const NameIn& from, const NameIn& to, unsigned flags) {
  return ::syscall(SYS_renameat2, from.folder, from.last.c_str(), to.folder, to.last.c_str(),
                   flags) == 0;
}

bool look(const NameIn& at, struct stat& status) {
  return ::fstatat(at.folder, at.last.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace

bool rename_to_new(const NameIn& from, const NameIn& to) {
  if (rename_with(from, to, kNoReplace)) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // A link does not replace either. Folders, and many file systems in user space, have none.
  if (::linkat(from.folder, from.last.c_str(), to.folder, to.last.c_str(), 0) == 0)
    return ::unlinkat(from.folder, from.last.c_str(), 0) == 0;
  if (errno == EEXIST) return false;
  struct stat status {};
  if (look(to, status)) {
    errno = EEXIST;
    return false;
  }
  return rename_with(from, to, 0);
}

bool rename_over(const NameIn& from, const NameIn& to) {
  struct stat of_from {};
  struct stat of_to {};
  // A rename does nothing then.
  if (look(from, of_from) && look(to, of_to) && of_from.st_dev == of_to.st_dev &&
      of_from.st_ino == of_to.st_ino)
    return ::unlinkat(from.folder, from.last.c_str(), 0) == 0;
  return rename_with(from, to, 0);
}

}  // namespace fileserver
