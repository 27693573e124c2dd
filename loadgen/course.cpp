#include "loadgen/course.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <system_error>

namespace loadgen {

Arrivals::Arrivals() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!fd_.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void Arrivals::arrive() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd_.get(), &one, sizeof one);
  assert(written == sizeof one);
}

int Arrivals::take() {
  std::uint64_t count = 0;
  return ::read(fd_.get(), &count, sizeof count) == sizeof count ? static_cast<int>(count) : 0;
}

}  // namespace loadgen
