// An LD_PRELOAD library: the file system has no files without a name, its renames know no flags,
// and take some time. So it is with NFS, and with most file systems in user space. With NO_LINKS in
// the environment there are no further names of a file either.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_at(const char* self, int folder, const char* name, int flags, mode_t mode) {
  int (*real)(int, const char*, int, mode_t);
  if ((flags & O_TMPFILE) == O_TMPFILE) return errno = EOPNOTSUPP, -1;
  *(void**)&real = dlsym(RTLD_NEXT, self);
  return real(folder, name, flags, mode);
}

int openat(int folder, const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return open_at("openat", folder, name, flags, mode);
}

int openat64(int folder, const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return open_at("openat64", folder, name, flags, mode);
}

int linkat(int from, const char* old, int to, const char* new, int flags) {
  int (*real)(int, const char*, int, const char*, int);
  if (getenv("NO_LINKS")) return errno = EPERM, -1;
  *(void**)&real = dlsym(RTLD_NEXT, "linkat");
  return real(from, old, to, new, flags);
}

long syscall(long number, ...) {
  static long (*real)(long, ...);
  va_list rest;
  long of[6];
  va_start(rest, number);
  for (int i = 0; i < 6; ++i) of[i] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_renameat2) usleep(50000);
  // The kernel looks for a name to exchange before it asks the file system.
  if (number == SYS_renameat2 && of[4] == 2 /* RENAME_EXCHANGE */ &&
      faccessat((int)of[2], (const char*)of[3], F_OK, AT_SYMLINK_NOFOLLOW) != 0)
    return -1;
  if (number == SYS_renameat2 && of[4]) return errno = EINVAL, -1;
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "syscall");
  return real(number, of[0], of[1], of[2], of[3], of[4], of[5]);
}
