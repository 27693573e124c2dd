// An LD_PRELOAD library: as long as the file NO_STACKS is there, no memory is given for a stack.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void* mmap64(void* at, size_t size, int access_to, int flags, int fd, off64_t offset) {
  static void* (*real)(void*, size_t, int, int, int, off64_t);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "mmap64");
  if (flags & MAP_STACK && access(getenv("NO_STACKS"), F_OK) == 0) return errno = ENOMEM, MAP_FAILED;
  return real(at, size, access_to, flags, fd, offset);
}

void* mmap(void* at, size_t size, int access_to, int flags, int fd, off_t offset) {
  return mmap64(at, size, access_to, flags, fd, offset);
}
