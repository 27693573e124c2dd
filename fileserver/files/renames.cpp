#include "fileserver/files/renames.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace fileserver {

namespace {

bool rename_with(const NameIn& from, const NameIn& to, unsigned flags) {
  return ::syscall(SYS_renameat2, from.folder, from.last.c_str(), to.folder, to.last.c_str(),
                   flags) == 0;
}

bool look(const NameIn& at, struct stat& status) {
  return ::fstatat(at.folder, at.last.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

// Failed with this errno, which what is done next must not change.
bool failed(int errno_value) {
  errno = errno_value;
  return false;
}

// A link does not replace either. Many file systems in user space have none.
bool rename_file_in_steps(const NameIn& from, const NameIn& to) {
  if (::linkat(from.folder, from.last.c_str(), to.folder, to.last.c_str(), 0) == 0) {
    if (::unlinkat(from.folder, from.last.c_str(), 0) == 0) return true;
    const int failure = errno;  // ENOENT: somebody else has moved it
    ::unlinkat(to.folder, to.last.c_str(), 0);
    return failed(failure);
  }
  if (errno == EEXIST) return false;
  struct stat status {};
  return look(to, status) ? failed(EEXIST) : rename_with(from, to, 0);
}

// Only one program can make a folder of the name, and that program may then replace it.
bool rename_folder_in_steps(const NameIn& from, const NameIn& to) {
  if (::mkdirat(to.folder, to.last.c_str(), S_IRWXU) != 0) return false;
  if (rename_with(from, to, 0)) return true;
  const int failure = errno;
  ::unlinkat(to.folder, to.last.c_str(), AT_REMOVEDIR);
  return failed(failure == ENOTEMPTY ? EEXIST : failure);  // somebody has put something into it
}

}  // namespace

bool rename_to_new(const NameIn& from, const NameIn& to) {
  if (rename_with(from, to, kNoReplace)) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  struct stat status {};
  if (look(from, status) && S_ISDIR(status.st_mode)) return rename_folder_in_steps(from, to);
  return rename_file_in_steps(from, to);
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
