#include "base/process_limits.h"

#include <pthread.h>
#include <sys/resource.h>

namespace base {

namespace {

// ThreadSanitizer keeps more than half a megabyte of its own on each stack, and no thread starts
// without room for it.
#if defined(__SANITIZE_THREAD__)
constexpr std::size_t kStackBytes = 4096 * 1024;
#else
// Room for a database client library and for the address sanitizer.
constexpr std::size_t kStackBytes = 512 * 1024;
#endif

}  // namespace

void make_threads_small() {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
}

std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace base
