// Part of lib/base in the build of `make mutants` only.
#include "tests/mutants/point.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstdlib>

namespace turnstile_mutants {

int chosen = 0;
unsigned char* reached = nullptr;

namespace {

// Before all constructors, which may enter functions. The calls are bare, because tests count, or
// let fail, what a program calls of the C library.
__attribute__((constructor(101))) void read_the_variables() {
  if (const char* number = std::getenv("TURNSTILE_MUTATION")) chosen = std::atoi(number);
  const char* path = std::getenv("TURNSTILE_REACHED");
  if (path == nullptr) return;
  const long fd = ::syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  const long mapped =
      ::syscall(SYS_mmap, nullptr, kPoints, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped > 0) reached = reinterpret_cast<unsigned char*>(mapped);  // an errno is negative
  ::syscall(SYS_close, fd);
}

}  // namespace
}  // namespace turnstile_mutants
