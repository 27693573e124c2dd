// Records what a power cut would leave of a program's files. Loaded into it with LD_PRELOAD.
//
// POWER_CUT_ROOT is the watched folder, and POWER_CUT_SYNCED a folder of ours beside it, on the
// same file system. Both are absolute paths without symbolic links. Files are written as usual.
// Whenever the program syncs a file, the parts that it wrote since the last sync are copied to
// SYNCED/data.INODE; whenever it syncs a folder, its entries are written to SYNCED/names.INODE. A
// folder that is made is on the disk at once, as on the journalling file systems of Linux. All else
// needs its sync. The real syncs are left out, because the kernel outlives the programs.
//
// With POWER_CUT_IGNORE_SYNCS syncs succeed and do nothing.
//
// Limits: a file is written and synced by the same process. Writes through mmap, io_uring and
// libaio are not seen. A file that was opened by fopen() is copied whole when it is synced.
//
// Threads: any. One lock covers the bookkeeping, and not the program's own writes.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define MOST_DESCRIPTORS 65536

struct range {
  off_t from, to;
  struct range* next;
};

// A file with writes that are not synced.
struct file {
  ino_t inode;
  off_t shortest;  // the least size since the last sync
  struct range* written;
  struct file* next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct file* files;
static ino_t inode_of[MOST_DESCRIPTORS];  // 0: not watched, or not opened by open()
static const char* root;
static const char* synced;
static int ignores_syncs;

static void lock(void) { pthread_mutex_lock(&mutex); }
static void unlock(void) { pthread_mutex_unlock(&mutex); }

// A copy, because Redis writes over its environment.
static const char* variable(const char* name) {
  const char* const value = getenv(name);
  return value ? strdup(value) : NULL;
}

__attribute__((constructor)) static void start(void) {
  root = variable("POWER_CUT_ROOT");
  synced = variable("POWER_CUT_SYNCED");
  ignores_syncs = getenv("POWER_CUT_IGNORE_SYNCS") != NULL;
  pthread_atfork(lock, unlock, unlock);
}

// The bookkeeping must not fail: a result of this test would mean nothing.
static void give_up(const char* what) {
  fprintf(stderr, "power_cut: %s: %s\n", what, strerror(errno));
  abort();
}

static int is_in_root(const char* path) {
  const size_t size = root ? strlen(root) : 0;
  return size > 0 && strncmp(path, root, size) == 0 && (path[size] == 0 || path[size] == '/');
}

static int is_watched(int fd) {
  char link[64], path[PATH_MAX];
  if (!root || !synced || fd < 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return is_in_root(path);
}

// The inode of a watched file, else 0.
static ino_t watched_inode(int fd) {
  struct stat status;
  if (!is_watched(fd) || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  return status.st_ino;
}

static int open_synced(const char* kind, ino_t inode, int flags) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s.%ju", synced, kind, (uintmax_t)inode);
  const int fd = REAL(open)(path, flags | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) give_up(path);
  return fd;
}

// Requires: the lock is held, as for the next two.
static struct file* file_of(ino_t inode) {
  for (struct file* file = files; file; file = file->next) {
    if (file->inode == inode) return file;
  }
  struct file* const made = calloc(1, sizeof *made);
  if (!made) give_up("calloc");
  made->inode = inode;
  made->shortest = INT64_MAX;
  made->next = files;
  files = made;
  return made;
}

static void note_range(ino_t inode, off_t from, off_t size) {
  struct file* const file = file_of(inode);
  struct range* last = file->written;
  if (last && last->to == from) {  // mostly files are appended to
    last->to += size;
    return;
  }
  struct range* const made = malloc(sizeof *made);
  if (!made) give_up("malloc");
  *made = (struct range){from, from + size, last};
  file->written = made;
}

static void copy_range(int from, int to, off_t at, off_t end) {
  char bytes[1 << 16];
  while (at < end) {
    const size_t wanted = (size_t)(end - at) < sizeof bytes ? (size_t)(end - at) : sizeof bytes;
    const ssize_t got = pread(from, bytes, wanted, at);
    if (got < 0) give_up("read what was written");
    if (got == 0) return;  // it has become shorter
    if (REAL(pwrite)(to, bytes, (size_t)got, at) != got) give_up("write a synced copy");
    at += got;
  }
}

static void note_write(int fd, off_t from, off_t size) {
  if (fd < 0 || fd >= MOST_DESCRIPTORS || inode_of[fd] == 0 || size <= 0) return;
  lock();
  note_range(inode_of[fd], from, size);
  unlock();
}

static void note_size(ino_t inode, off_t size) {
  if (inode == 0) return;
  lock();
  struct file* const file = file_of(inode);
  if (size < file->shortest) file->shortest = size;
  unlock();
}

// A program may open a file without the right to read it. So it is opened once more.
static int open_again(int fd) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const int again = REAL(open)(path, O_RDONLY | O_CLOEXEC);
  if (again < 0) give_up("open a synced file");
  return again;
}

static void sync_file(int fd, ino_t inode) {
  const int is_known = fd < MOST_DESCRIPTORS && inode_of[fd] == inode;
  const int from = open_again(fd), to = open_synced("data", inode, O_WRONLY);
  struct stat status;
  lock();
  struct file* const file = file_of(inode);
  if (file->shortest != INT64_MAX && fstat(to, &status) == 0 && status.st_size > file->shortest &&
      REAL(ftruncate)(to, file->shortest) != 0)
    give_up("shorten a synced copy");
  if (fstat(from, &status) != 0) give_up("look at a synced file");
  if (!is_known) copy_range(from, to, 0, status.st_size);
  for (struct range* range = file->written; range;) {
    struct range* const done = range;
    copy_range(from, to, range->from, range->to);
    range = range->next;
    free(done);
  }
  file->written = NULL;
  file->shortest = INT64_MAX;
  if (REAL(ftruncate)(to, status.st_size) != 0) give_up("resize a synced copy");
  unlock();
  REAL(close)(from);
  REAL(close)(to);
}

static void sync_folder(int fd, ino_t inode) {
  char path[64], draft[PATH_MAX], final[PATH_MAX];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  lock();
  DIR* const folder = opendir(path);
  const int to = open_synced("draft", inode, O_WRONLY | O_TRUNC);
  if (!folder) give_up("list a synced folder");
  for (struct dirent* entry; (entry = readdir(folder));) {
    if (dprintf(to, "%ju %s\n", (uintmax_t)entry->d_ino, entry->d_name) < 0) give_up("write names");
  }
  closedir(folder);
  REAL(close)(to);
  snprintf(draft, sizeof draft, "%s/draft.%ju", synced, (uintmax_t)inode);
  snprintf(final, sizeof final, "%s/names.%ju", synced, (uintmax_t)inode);
  if (REAL(rename)(draft, final) != 0) give_up("write names");
  unlock();
}

static int sync_any(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return -1;
  if (ignores_syncs) return 0;
  if (S_ISREG(status.st_mode)) sync_file(fd, status.st_ino);
  if (S_ISDIR(status.st_mode)) sync_folder(fd, status.st_ino);
  return 0;
}

int fsync(int fd) { return is_watched(fd) ? sync_any(fd) : REAL(fsync)(fd); }
int fdatasync(int fd) { return is_watched(fd) ? sync_any(fd) : REAL(fdatasync)(fd); }

// Keeps the inode of a file that loses a name, so that no new file gets the same number.
static void keep_inode(int folder, const char* path) {
  char kept[PATH_MAX];
  const int error = errno;
  const int fd = REAL(openat)(folder, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  const ino_t inode = watched_inode(fd);
  if (inode != 0) {
    snprintf(kept, sizeof kept, "%s/kept.%ju", synced, (uintmax_t)inode);
    if (REAL(linkat)(folder, path, AT_FDCWD, kept, 0) != 0 && errno != EEXIST) give_up(kept);
  }
  if (fd >= 0) REAL(close)(fd);
  errno = error;
}

static int opened(int fd, int flags) {
  if (fd < 0 || fd >= MOST_DESCRIPTORS) return fd;
  const int error = errno;
  inode_of[fd] = watched_inode(fd);
  if ((flags & O_TRUNC) != 0) note_size(inode_of[fd], 0);
  errno = error;
  return fd;
}

#define MODE_OF(flags, last)                    \
  mode_t mode = 0;                              \
  if (((flags) & (O_CREAT | O_TMPFILE)) != 0) { \
    va_list more;                               \
    va_start(more, last);                       \
    mode = va_arg(more, mode_t);                \
    va_end(more);                               \
  }

int open(const char* path, int flags, ...) {
  MODE_OF(flags, flags)
  return opened(REAL(open)(path, flags, mode), flags);
}
int open64(const char* path, int flags, ...) {
  MODE_OF(flags, flags)
  return opened(REAL(open)(path, flags | O_LARGEFILE, mode), flags);
}
int openat(int folder, const char* path, int flags, ...) {
  MODE_OF(flags, flags)
  return opened(REAL(openat)(folder, path, flags, mode), flags);
}
int openat64(int folder, const char* path, int flags, ...) {
  MODE_OF(flags, flags)
  return opened(REAL(openat)(folder, path, flags | O_LARGEFILE, mode), flags);
}
int creat(const char* path, mode_t mode) { return opened(REAL(creat)(path, mode), O_TRUNC); }
int creat64(const char* path, mode_t mode) { return opened(REAL(creat)(path, mode), O_TRUNC); }

int close(int fd) {
  if (fd >= 0 && fd < MOST_DESCRIPTORS) inode_of[fd] = 0;
  return REAL(close)(fd);
}

// After a write at the current place of the file.
static ssize_t wrote(int fd, ssize_t size) {
  if (size > 0 && fd < MOST_DESCRIPTORS && inode_of[fd] != 0)
    note_write(fd, lseek(fd, 0, SEEK_CUR) - size, size);
  return size;
}

static ssize_t wrote_at(int fd, ssize_t size, off_t from) {
  if (size > 0) note_write(fd, from, size);
  return size;
}

ssize_t write(int fd, const void* bytes, size_t size) {
  return wrote(fd, REAL(write)(fd, bytes, size));
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
  return wrote(fd, REAL(writev)(fd, parts, count));
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t from) {
  return wrote_at(fd, REAL(pwrite)(fd, bytes, size, from), from);
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t from) {
  return wrote_at(fd, REAL(pwrite)(fd, bytes, size, from), from);
}
ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t from) {
  return wrote_at(fd, REAL(pwritev)(fd, parts, count, from), from);
}
ssize_t pwritev64(int fd, const struct iovec* parts, int count, off64_t from) {
  return wrote_at(fd, REAL(pwritev)(fd, parts, count, from), from);
}

static int resized(int fd, int result, off_t size) {
  if (result == 0 && fd < MOST_DESCRIPTORS) note_size(inode_of[fd], size);
  return result;
}

int ftruncate(int fd, off_t size) { return resized(fd, REAL(ftruncate)(fd, size), size); }
int ftruncate64(int fd, off64_t size) { return resized(fd, REAL(ftruncate)(fd, size), size); }

int truncate(const char* path, off_t size) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const int result = ftruncate(fd, size);
  close(fd);
  return result;
}
int truncate64(const char* path, off64_t size) { return truncate(path, size); }

int fallocate(int fd, int mode, off_t from, off_t size) {
  const int result = REAL(fallocate)(fd, mode, from, size);
  if (result == 0) note_write(fd, from, size);
  return result;
}
int fallocate64(int fd, int mode, off64_t from, off64_t size) {
  return fallocate(fd, mode, from, size);
}
int posix_fallocate(int fd, off_t from, off_t size) {
  const int result = REAL(posix_fallocate)(fd, from, size);
  if (result == 0) note_write(fd, from, size);
  return result;
}
int posix_fallocate64(int fd, off64_t from, off64_t size) {
  return posix_fallocate(fd, from, size);
}

int unlink(const char* path) {
  keep_inode(AT_FDCWD, path);
  return REAL(unlink)(path);
}
int unlinkat(int folder, const char* path, int flags) {
  if ((flags & AT_REMOVEDIR) == 0) keep_inode(folder, path);
  return REAL(unlinkat)(folder, path, flags);
}
int remove(const char* path) {
  keep_inode(AT_FDCWD, path);
  return REAL(remove)(path);
}
int rename(const char* from, const char* to) {
  keep_inode(AT_FDCWD, to);
  return REAL(rename)(from, to);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  keep_inode(to_folder, to);
  return REAL(renameat)(from_folder, from, to_folder, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  keep_inode(to_folder, to);
  return REAL(renameat2)(from_folder, from, to_folder, to, flags);
}

// A program may call renameat2 without the C library's function of that name.
long syscall(long number, ...) {
  long arguments[6];
  va_list more;
  va_start(more, number);
  for (int i = 0; i < 6; ++i) arguments[i] = va_arg(more, long);
  va_end(more);
  if (number == SYS_renameat2) keep_inode((int)arguments[2], (const char*)arguments[3]);
  return REAL(syscall)(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                       arguments[5]);
}
