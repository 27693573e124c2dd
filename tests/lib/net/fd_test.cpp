#include "net/fd.h"

#include <fcntl.h>

#include "tests/catch.h"

using net::Fd;

namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

}  // namespace

TEST_CASE("an Fd closes what it owns, once", "[net]") {
  const int raw = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  { const Fd fd(raw); }
  CHECK_FALSE(is_open(raw));
}

TEST_CASE("a moved-from Fd owns nothing", "[net]") {
  Fd from(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int raw = from.get();
  const Fd to(std::move(from));
  CHECK_FALSE(from.is_open());  // NOLINT(bugprone-use-after-move): this is the test
  CHECK(to.get() == raw);
  CHECK(is_open(raw));
}

TEST_CASE("a released descriptor stays open", "[net]") {
  int raw = -1;
  {
    Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    raw = fd.release();
  }
  CHECK(is_open(raw));
  ::close(raw);
}
