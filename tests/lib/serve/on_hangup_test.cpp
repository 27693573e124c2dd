#include "serve/on_hangup.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/catch.h"

namespace {

// A pipe in the place of the signalfd, which reads alike.
class Hangups {
 public:
  Hangups() { REQUIRE(::pipe2(ends_, O_CLOEXEC | O_NONBLOCK) == 0); }
  ~Hangups() { ::close(ends_[1]); }
  Hangups(const Hangups&) = delete;
  Hangups& operator=(const Hangups&) = delete;

  net::Fd fd() const { return net::Fd(ends_[0]); }
  void send() const {
    const signalfd_siginfo info{};
    REQUIRE(::write(ends_[1], &info, sizeof info) == sizeof info);
  }

 private:
  int ends_[2];
};

void wait_until(const std::atomic<int>& count, int expected) {
  while (count != expected) std::this_thread::yield();
}

}  // namespace

TEST_CASE("each hangup calls the function, also one that came before", "[serve]") {
  const Hangups hangups;
  hangups.send();
  std::atomic<int> calls = 0;
  const serve::OnHangup on_hangup(hangups.fd(), [&] { ++calls; });
  wait_until(calls, 1);
  hangups.send();
  wait_until(calls, 2);
}

TEST_CASE("without a hangup the function is not called", "[serve]") {
  const Hangups hangups;
  std::atomic<int> calls = 0;
  {
    const serve::OnHangup on_hangup(hangups.fd(), [&] { ++calls; });
  }
  CHECK(calls == 0);
}

TEST_CASE("the end waits until the function has returned", "[serve]") {
  const Hangups hangups;
  std::atomic<int> begun = 0, done = 0;
  {
    const serve::OnHangup on_hangup(hangups.fd(), [&] {
      ++begun;
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
      ++done;
    });
    hangups.send();
    wait_until(begun, 1);
  }
  CHECK(done == 1);
}
