#include "base/hangup_signal.h"

#include <signal.h>
#include <unistd.h>

#include <thread>

#include "tests/catch.h"

TEST_CASE("a hangup is taken once, also where it was ignored", "[base]") {
  int taken = -1, before = -1, after = -1;
  // In a thread of its own, because a signal is blocked per thread.
  std::thread([&] {
    ::signal(SIGHUP, SIG_IGN);
    const int fd = base::open_hangup_signal();
    before = base::take_hangup_signal(fd);
    ::pthread_kill(::pthread_self(), SIGHUP);
    taken = base::take_hangup_signal(fd);
    after = base::take_hangup_signal(fd);
    ::close(fd);
  }).join();
  CHECK(before == 0);
  CHECK(taken == 1);
  CHECK(after == 0);
}
