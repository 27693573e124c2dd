// An LD_PRELOAD library: some allocations of the program fail. The file SCARCE_MEMORY holds four
// numbers of 64 bits, which a test changes while the program runs:
// - an allocation fails when the first one is counted down to 0;
// - while the second one is not 0, one allocation in so many fails;
// - the third one counts what has failed;
// - while the fourth one is not 0, no process can be forked.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static struct { atomic_long countdown, one_in, failed, no_fork; } * plan;

__attribute__((constructor)) static void begin(void) {
  const int fd = open(getenv("SCARCE_MEMORY"), O_RDWR | O_CLOEXEC);
  void* const map = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (map == MAP_FAILED) abort();
  plan = map;
}

static int fails(void) {
  static atomic_long number;
  if (!plan) return 0;
  const long one_in = plan->one_in;
  const int is_chosen =
      (plan->countdown > 0 && --plan->countdown == 0) || (one_in && ++number % one_in == 0);
  if (is_chosen) ++plan->failed, errno = ENOMEM;
  return is_chosen;
}

void* malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
void* aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  void* const memory = fails() ? NULL : __libc_memalign(alignment, size);
  if (!memory) return ENOMEM;
  *result = memory;
  return 0;
}

pid_t fork(void) {
  pid_t (*const forks)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
  if (!plan->no_fork) return forks();
  errno = EAGAIN;
  return -1;
}
