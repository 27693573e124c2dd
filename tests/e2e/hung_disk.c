// An LD_PRELOAD library: who reads, syncs or looks at something opened in the folder HUNG_DISK waits
// as long as the file HUNG_WHILE is there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int hangs(int fd) {
  const char* const folder = getenv("HUNG_DISK");
  const char* const mark = getenv("HUNG_WHILE");
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = folder ? readlink(link, path, sizeof path - 1) : -1;
  if (size < 0) return 0;
  path[size] = 0;
  if (strncmp(path, folder, strlen(folder)) != 0) return 0;
  return access(mark, F_OK) == 0;
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

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "fdatasync");
  while (hangs(fd)) usleep(1000);
  return real(fd);
}

int statx(int folder, const char* path, int flags, unsigned mask, struct statx* into) {
  static int (*real)(int, const char*, int, unsigned, struct statx*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "statx");
  while (!*path && hangs(folder)) usleep(1000);
  return real(folder, path, flags, mask, into);
}
