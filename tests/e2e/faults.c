// An LD_PRELOAD library: some calls of the program fail. The file FAULTS holds numbers of 64 bits,
// which a test changes while the program runs:
// - a call fails when this number is counted down to 0;
// - while this number is not 0, one call in so many fails;
// - their errno;
// - how many have failed. The library counts that.
// The upper halves of the first two numbers are the kind of those calls (the order of enum kind).
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { kMemory, kOpen, kRead, kWrite, kSync, kName, kAccept, kConnect, kSend, kPoll, kThread };

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static struct { atomic_long countdown, one_in, error, failed; } * plan;

__attribute__((constructor)) static void begin(void) {
  const int fd = open(getenv("FAULTS"), O_RDWR | O_CLOEXEC);
  void* const map = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (map == MAP_FAILED) abort();
  plan = map;
}

// How often a number of the plan counts for a call of this kind.
static long count_for(enum kind kind, long number) {
  return number >> 32 == (long)kind ? (long)(unsigned)number : 0;
}

// Counts down. The test may change the plan meanwhile.
static int is_last(enum kind kind) {
  long number = plan->countdown;
  while (count_for(kind, number) > 0) {
    if (atomic_compare_exchange_weak(&plan->countdown, &number, number - 1))
      return count_for(kind, number) == 1;
  }
  return 0;
}

static int fails(enum kind kind) {
  static atomic_long calls;
  if (!plan) return 0;
  const long one_in = count_for(kind, plan->one_in);
  const int is_chosen = is_last(kind) || (one_in && ++calls % one_in == 0);
  if (is_chosen) {
    ++plan->failed;
    errno = (int)plan->error;
  }
  return is_chosen;
}

void* malloc(size_t size) { return fails(kMemory) ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) {
  return fails(kMemory) ? NULL : __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) { return fails(kMemory) ? NULL : __libc_realloc(old, size); }
void* aligned_alloc(size_t to, size_t size) {
  return fails(kMemory) ? NULL : __libc_memalign(to, size);
}

int posix_memalign(void** result, size_t to, size_t size) {
  void* const memory = fails(kMemory) ? NULL : __libc_memalign(to, size);
  if (!memory) return ENOMEM;
  *result = memory;
  return 0;
}

// Defines a function that fails with a value, or does what the next library does.
#define WRAP_FAILING_WITH(failure, kind, type, name, parameters, arguments) \
  type name parameters {                                           \
    static type(*real) parameters;                                 \
    if (fails(kind)) return failure;                               \
    if (!real) *(void**)&real = dlsym(RTLD_NEXT, #name);           \
    return real arguments;                                         \
  }
#define WRAP(kind, type, name, parameters, arguments) \
  WRAP_FAILING_WITH((type)-1, kind, type, name, parameters, arguments)

#define WRAP_OPEN(name)                                            \
  int name(const char* path, int flags, ...) {                     \
    va_list rest;                                                  \
    va_start(rest, flags);                                         \
    const int mode = va_arg(rest, int);                            \
    va_end(rest);                                                  \
    if (fails(kOpen)) return -1;                                   \
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);  \
  }
WRAP_OPEN(open)
WRAP_OPEN(open64)

#define WRAP_OPENAT(name)                                          \
  int name(int folder, const char* path, int flags, ...) {         \
    va_list rest;                                                  \
    va_start(rest, flags);                                         \
    const int mode = va_arg(rest, int);                            \
    va_end(rest);                                                  \
    if (fails(kOpen)) return -1;                                   \
    return (int)syscall(SYS_openat, folder, path, flags, mode);    \
  }
WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)

WRAP(kRead, ssize_t, pread, (int fd, void* to, size_t size, off_t at), (fd, to, size, at))
WRAP(kRead, ssize_t, pread64, (int fd, void* to, size_t size, off64_t at), (fd, to, size, at))
WRAP_FAILING_WITH(NULL, kRead, struct dirent*, readdir, (DIR * folder), (folder))
WRAP_FAILING_WITH(NULL, kRead, struct dirent64*, readdir64, (DIR * folder), (folder))
WRAP(kWrite, ssize_t, write, (int fd, const void* from, size_t size), (fd, from, size))
WRAP(kSync, int, fsync, (int fd), (fd))
WRAP(kSync, int, fdatasync, (int fd), (fd))
WRAP(kSync, int, syncfs, (int fd), (fd))

// What only waits tells whether the bytes were written.
int sync_file_range(int fd, off64_t from, off64_t size, unsigned flags) {
  if (flags == SYNC_FILE_RANGE_WAIT_BEFORE && fails(kSync)) return -1;
  return (int)syscall(SYS_sync_file_range, fd, from, size, flags);
}

WRAP(kName, int, linkat, (int a, const char* from, int b, const char* to, int flags),
     (a, from, b, to, flags))
WRAP(kName, int, unlinkat, (int folder, const char* name, int flags), (folder, name, flags))
WRAP(kName, int, mkdirat, (int folder, const char* name, mode_t mode), (folder, name, mode))
WRAP(kAccept, int, accept4, (int fd, struct sockaddr* from, socklen_t* size, int flags),
     (fd, from, size, flags))
WRAP(kConnect, int, connect, (int fd, const struct sockaddr* to, socklen_t size), (fd, to, size))
WRAP(kSend, ssize_t, send, (int fd, const void* from, size_t size, int flags),
     (fd, from, size, flags))
WRAP(kSend, ssize_t, writev, (int fd, const struct iovec* parts, int count), (fd, parts, count))
WRAP(kSend, ssize_t, sendfile, (int to, int from, off_t* at, size_t size), (to, from, at, size))
WRAP(kSend, ssize_t, sendfile64, (int to, int from, off64_t* at, size_t size),
     (to, from, at, size))
WRAP(kPoll, int, poll, (struct pollfd* fds, nfds_t count, int timeout_ms),
     (fds, count, timeout_ms))
WRAP(kThread, pid_t, fork, (void), ())

int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*), void* with) {
  static int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (fails(kThread)) return errno;
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "pthread_create");
  return real(thread, how, run, with);
}

// The program calls openat2 and renameat2 with it.
long syscall(long number, ...) {
  static long (*real)(long, ...);
  va_list rest;
  long of[6];
  va_start(rest, number);
  for (int i = 0; i < 6; ++i) of[i] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_openat2 && fails(kOpen)) return -1;
  if (number == SYS_renameat2 && fails(kName)) return -1;
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "syscall");
  return real(number, of[0], of[1], of[2], of[3], of[4], of[5]);
}
