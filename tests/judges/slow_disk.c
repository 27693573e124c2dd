// An LD_PRELOAD library: a disk that takes SLOW_DISK_S seconds longer. For files of a folder
// slow-write it is the write that reaches the second MiB, for those of a folder slow-sync it is
// fdatasync.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void wait_if_in(const char* folder, int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return;
  path[size] = 0;
  if (!strstr(path, folder)) return;
  struct timespec left = {.tv_sec = atoi(getenv("SLOW_DISK_S"))};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

ssize_t write(int fd, const void* from, size_t count) {
  static ssize_t (*real)(int, const void*, size_t);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "write");
  const off_t second_mib = 1 << 20;
  const off_t at = lseek(fd, 0, SEEK_CUR);  // -1 of what is no file
  if (at >= 0 && at <= second_mib && at + (off_t)count > second_mib) wait_if_in("/slow-write/", fd);
  return real(fd, from, count);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "fdatasync");
  wait_if_in("/slow-sync/", fd);
  return real(fd);
}
