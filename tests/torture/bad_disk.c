// An LD_PRELOAD library: of the reads of regular files in the folder BAD_DISK, some fail with EIO,
// and some give less than they were asked for.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_on_bad_disk(int fd) {
  const char* const folder = getenv("BAD_DISK");
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = folder ? readlink(link, path, sizeof path - 1) : -1;
  if (size < 0) return 0;
  path[size] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

// Every seventh read fails. Every fifth is cut to a half; one with O_DIRECT must stay aligned.
static size_t spoilt(int fd, size_t count) {
  static atomic_uint reads;
  if (!is_on_bad_disk(fd)) return count;
  const unsigned number = ++reads;
  if (number % 7 == 0) return 0;
  return number % 5 == 0 && count >= 8192 ? count / 2 / 4096 * 4096 : count;
}

ssize_t read(int fd, void* into, size_t count) {
  static ssize_t (*real)(int, void*, size_t);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "read");
  const size_t now = count ? spoilt(fd, count) : 0;
  if (count && !now) return errno = EIO, -1;
  return real(fd, into, now);
}

ssize_t pread(int fd, void* into, size_t count, off_t at) {
  static ssize_t (*real)(int, void*, size_t, off_t);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "pread");
  const size_t now = count ? spoilt(fd, count) : 0;
  if (count && !now) return errno = EIO, -1;
  return real(fd, into, now, at);
}
