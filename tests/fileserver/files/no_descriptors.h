// Limits on the descriptors of this process, for as long as an object lives.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>

#include "net/fd.h"

namespace tests {

// The process gets no new descriptor.
class NoDescriptors {
 public:
  NoDescriptors() : NoDescriptors(0) {}
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 protected:
  explicit NoDescriptors(rlim_t limit) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{limit, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
  }

 private:
  rlimit before_{};
};

// The process gets one new descriptor at a time.
class OneDescriptor : public NoDescriptors {
 public:
  OneDescriptor() : NoDescriptors(lowest_free() + 1) {}

 private:
  static rlim_t lowest_free() {
    const net::Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return static_cast<rlim_t>(fd.get());
  }
};

}  // namespace tests
