#include <sys/epoll.h>

#include <array>
#include <functional>
#include <latch>
#include <string>
#include <vector>

#include "events/loop.h"
#include "net/socket_io.h"
#include "tests/catch.h"
#include "tests/lib/events/loop_scene.h"

using tests::LoopThread;
using tests::Pair;

namespace {

// A task that is about one end of a pair, of which only the test reports what happens.
class Owner final : public events::Task, public events::OwnDescriptor {
 public:
  Owner(int fd, events::Loop& loop, std::function<void(Owner&)> work, std::uint32_t unwatched = 0)
      : OwnDescriptor(fd, unwatched), loop_(loop), work_(std::move(work)) {}
  void run() override {
    loop_.set_own_descriptor(this);
    work_(*this);
    ended_.count_down();
  }
  void do_it() {
    loop_.post([this] { loop_.start(*this); });
    ended_.wait();
  }

 private:
  events::Loop& loop_;
  const std::function<void(Owner&)> work_;
  std::latch ended_{1};
};

std::string received_in_ones(int fd) {
  std::string all;
  for (std::array<char, 1> one; all.size() < 2 && net::receive(fd, one) == 1;) all += one[0];
  return all;
}

ssize_t receive_some(int fd) {
  std::array<char, 100> some;
  return net::receive(fd, some);
}

// How much a task receives on its own socket, which is sent once the task waits for it. The loop
// tells the task of its socket until that is closed.
ssize_t received_late(LoopThread& one, Pair& pair) {
  ssize_t got = 0;
  const auto work = [&](Owner&) {
    one.loop.post([&] { net::send_all(pair.b.get(), "late"); });
    got = receive_some(pair.a.get());
    pair.a = {};
  };
  Owner owner(pair.a.get(), one.loop, work, EPOLLIN | EPOLLET);
  owner.do_it();
  return got;
}

}  // namespace

TEST_CASE("a task whose socket is empty waits until something is reported", "[events][net]") {
  LoopThread one;
  const Pair pair;
  net::set_io_timeout(pair.a.get(), 20);
  net::send_all(pair.b.get(), "first");
  std::vector<ssize_t> got;
  Owner owner(pair.a.get(), one.loop, [&](Owner& self) {
    got.push_back(receive_some(pair.a.get()));
    net::send_all(pair.b.get(), "second");
    got.push_back(receive_some(pair.a.get()));
    self.happened(EPOLLIN);
    got.push_back(receive_some(pair.a.get()));
  });
  owner.do_it();
  CHECK(got == std::vector<ssize_t>{5, -1, 6});
}

TEST_CASE("a task's own socket is watched once the task waits for it", "[events][net]") {
  LoopThread one;
  Pair pair;
  CHECK(received_late(one, pair) == 4);
}

TEST_CASE("a task's own socket that cannot be watched is looked at again", "[events][net]") {
  LoopThread one;
  Pair pair;
  struct : events::Watch {
    void happened(std::uint32_t /*events*/) override {}
  } other;
  one.loop.post([&] { one.loop.watch(pair.a.get(), EPOLLIN | EPOLLET, other); });
  CHECK(received_late(one, pair) == 4);
}

TEST_CASE("a task whose room was filled asks at once", "[events][net]") {
  LoopThread one;
  const Pair pair;
  net::send_all(pair.b.get(), "ab");
  std::string got;
  Owner owner(pair.a.get(), one.loop, [&](Owner&) { got = received_in_ones(pair.a.get()); });
  owner.do_it();
  CHECK(got == "ab");
}

TEST_CASE("a task whose peer has ended asks at once", "[events][net]") {
  LoopThread one;
  Pair pair;
  net::send_all(pair.b.get(), "last");
  pair.b = {};
  std::vector<ssize_t> got;
  Owner owner(pair.a.get(), one.loop, [&](Owner& self) {
    self.happened(EPOLLIN | EPOLLRDHUP);
    got.push_back(receive_some(pair.a.get()));
    got.push_back(receive_some(pair.a.get()));
  });
  owner.do_it();
  CHECK(got == std::vector<ssize_t>{4, 0});
}

TEST_CASE("a task behind an urgent byte asks at once", "[events][net]") {
  LoopThread one;
  const Pair pair;
  net::send_all(pair.b.get(), "before");
  std::vector<ssize_t> got;
  Owner owner(pair.a.get(), one.loop, [&](Owner& self) {
    self.happened(EPOLLIN | EPOLLPRI);
    got.push_back(receive_some(pair.a.get()));
    net::send_all(pair.b.get(), "behind");
    got.push_back(receive_some(pair.a.get()));
  });
  owner.do_it();
  CHECK(got == std::vector<ssize_t>{6, 6});
}

TEST_CASE("the time-out of a task's socket is asked for once", "[events][net]") {
  LoopThread one;
  const Pair pair;
  net::set_io_timeout(pair.a.get(), 20);
  int timeouts = 0;
  Owner owner(pair.a.get(), one.loop, [&](Owner&) {
    timeouts += receive_some(pair.a.get()) < 0 ? 1 : 0;
    net::set_io_timeout(pair.a.get(), 3'600'000);
    timeouts += receive_some(pair.a.get()) < 0 ? 1 : 0;
  });
  owner.do_it();
  CHECK(timeouts == 2);
}
