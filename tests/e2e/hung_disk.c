// An LD_PRELOAD library: reads of regular files in the folder HUNG_DISK wait until it has a file
// with the name "released".
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int hangs(int fd) {
  const char* const folder = getenv("HUNG_DISK");
  char link[64], path[PATH_MAX], released[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = folder ? readlink(link, path, sizeof path - 1) : -1;
  if (size < 0) return 0;
  path[size] = 0;
  if (strncmp(path, folder, strlen(folder)) != 0) return 0;
  snprintf(released, sizeof released, "%s/released", folder);
  return access(released, F_OK) != 0;
}

ssize_t pread(int fd, void* into, size_t count, off_t at) {
  static ssize_t (*real)(int, void*, size_t, off_t);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "pread");
  while (hangs(fd)) usleep(1000);
  return real(fd, into, count, at);
}

ssize_t preadv2(int fd, const struct iovec* parts, int count, off_t at, int flags) {
  static ssize_t (*real)(int, const struct iovec*, int, off_t, int);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "preadv2");
  if (flags & RWF_NOWAIT && hangs(fd)) return errno = EAGAIN, -1;
  return real(fd, parts, count, at, flags);
}
