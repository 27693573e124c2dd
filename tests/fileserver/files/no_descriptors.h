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
  // The lowest number that a new descriptor could have.
  static rlim_t lowest_free() {
    const net::Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return static_cast<rlim_t>(fd.get());
  }

  explicit NoDescriptors(rlim_t limit) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{limit, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
  }

 private:
  rlimit before_{};
};

// The process gets so many new descriptors at a time.
class FewDescriptors : public NoDescriptors {
 public:
  explicit FewDescriptors(rlim_t count) : NoDescriptors(lowest_free() + count) {}
};

// The process gets one new descriptor at a time.
class OneDescriptor : public FewDescriptors {
 public:
  OneDescriptor() : FewDescriptors(1) {}
};

}  // namespace tests
