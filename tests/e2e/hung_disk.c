// An LD_PRELOAD library: who reads, syncs or looks at something opened in the folder HUNG_DISK
// waits as long as the file HUNG_WHILE is there. With a $ behind it, HUNG_DISK is the path of the
// only file that hangs. A single kind of call waits as long as
// HUNG_WHILE.KIND is there: read, sync, look, open, close, copy, or loop, which is a read that must
// not wait. A line on standard error says when one begins to wait.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

static int is_in_folder(int fd) {
  const char* const folder = getenv("HUNG_DISK");
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = folder ? readlink(link, path, sizeof path - 1) : -1;
  if (size < 0) return 0;
  path[size] = 0;
  const size_t length = strlen(folder);
  if (length > 0 && folder[length - 1] == '$')
    return (size_t)size == length - 1 && strncmp(path, folder, length - 1) == 0;
  return strncmp(path, folder, length) == 0;
}

static int hangs(int fd, const char* call, const char* mark) {
  char own_mark[PATH_MAX];
  snprintf(own_mark, sizeof own_mark, "%s.%s", getenv("HUNG_WHILE"), call);
  return is_in_folder(fd) && ((mark && access(mark, F_OK) == 0) || access(own_mark, F_OK) == 0);
}

// `mark` is another file that lets the call wait, or null.
static void wait_while_hung(int fd, const char* call, const char* mark) {
  if (!hangs(fd, call, mark)) return;
  dprintf(STDERR_FILENO, "the disk hangs call=%s\n", call);
  while (hangs(fd, call, mark)) usleep(1000);
}

ssize_t pread(int fd, void* into, size_t count, off_t at) {
  static ssize_t (*real)(int, void*, size_t, off_t);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "pread");
  wait_while_hung(fd, "read", getenv("HUNG_WHILE"));
  return real(fd, into, count, at);
}

ssize_t preadv2(int fd, const struct iovec* parts, int count, off_t at, int flags) {
  static ssize_t (*real)(int, const struct iovec*, int, off_t, int);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "preadv2");
  if (flags & RWF_NOWAIT && hangs(fd, "read", getenv("HUNG_WHILE"))) return errno = EAGAIN, -1;
  wait_while_hung(fd, "loop", NULL);
  return real(fd, parts, count, at, flags);
}

ssize_t copy_file_range(int from, off64_t* from_at, int to, off64_t* to_at, size_t count,
                        unsigned flags) {
  static ssize_t (*real)(int, off64_t*, int, off64_t*, size_t, unsigned);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "copy_file_range");
  wait_while_hung(from, "copy", NULL);
  return real(from, from_at, to, to_at, count, flags);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "fdatasync");
  wait_while_hung(fd, "sync", getenv("HUNG_WHILE"));
  return real(fd);
}

int statx(int folder, const char* path, int flags, unsigned mask, struct statx* into) {
  static int (*real)(int, const char*, int, unsigned, struct statx*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "statx");
  if (!*path) wait_while_hung(folder, "look", getenv("HUNG_WHILE"));
  return real(folder, path, flags, mask, into);
}

// It is no disk of the kernel, whose files are closed at once.
int fstatfs(int fd, struct statfs* into) {
  static int (*real)(int, struct statfs*);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "fstatfs");
  const int done = real(fd, into);
  if (is_in_folder(fd)) into->f_type = 0x65735546;  // FUSE
  return done;
}

// Of what is open already, and is opened again to be read.
int open(const char* path, int flags, ...) {
  static int (*real)(const char*, int, ...);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "open");
  int fd = -1;
  if (sscanf(path, "/proc/self/fd/%d", &fd) == 1) wait_while_hung(fd, "open", NULL);
  va_list more;
  va_start(more, flags);
  const int opened = real(path, flags, va_arg(more, int));
  va_end(more);
  return opened;
}

// The kernel asks no file system about a descriptor with O_PATH.
int close(int fd) {
  static int (*real)(int);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "close");
  const int flags = fcntl(fd, F_GETFL);
  if (flags >= 0 && !(flags & O_PATH)) wait_while_hung(fd, "close", NULL);
  return real(fd);
}

// Programs with _FILE_OFFSET_BITS=64 call these.
ssize_t pread64(int, void*, size_t, off_t) __attribute__((alias("pread")));
ssize_t preadv64v2(int, const struct iovec*, int, off_t, int) __attribute__((alias("preadv2")));
int fstatfs64(int, struct statfs64*) __attribute__((alias("fstatfs")));
int open64(const char*, int, ...) __attribute__((alias("open")));
