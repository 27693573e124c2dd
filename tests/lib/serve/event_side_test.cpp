#include "serve/event_side.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "net/fd.h"
#include "net/listen.h"
#include "tests/catch.h"

namespace {

constexpr int kMostMs = 30'000;

class SendsWithoutEnd final : public serve::Worker {
 public:
  void serve(serve::Stream& stream) override {
    const std::string much(std::size_t{1} << 20, 'x');
    while (stream.send(std::string_view(much))) {
    }
  }
};

class Rests final : public serve::Worker {
 public:
  void serve(serve::Stream& stream) override {
    std::array<char, 1> byte{};
    auto deadline = stream.idle_deadline();
    stream.receive_first(byte, deadline);
  }
};

// One loop, to which a test gives connections.
template <typename Server>
class Served {
 public:
  Served()
      : common(serve::Options{.idle_timeout_ms = 0},
               serve::only({std::move(*net::listen_on({"127.0.0.1", 0}, 0)),
                            [] { return std::make_unique<Server>(); }})) {
    common.sides.push_back(std::make_unique<serve::Side>(common));
    side().start();
  }
  ~Served() {
    common.entrances.front()->acceptor.stop();
    side().drain();
    side().stop();
    side().thread.join();
  }

  void give(net::Fd fd) {
    REQUIRE(common.take_place());
    REQUIRE(side().take_from_other({std::move(fd), {}}, 0));
  }
  bool all_leave() {
    common.is_draining = true;
    return common.wait_until_all_left(base::Deadline::in_ms(kMostMs));
  }
  serve::Side& side() { return *common.sides.front(); }

  serve::EventCommon common;
};

std::pair<net::Fd, net::Fd> connected() {
  std::array<int, 2> fds{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()) == 0);
  return {net::Fd(fds[0]), net::Fd(fds[1])};
}

}  // namespace

TEST_CASE("a connection for which there is no memory is told that the server is busy", "[serve]") {
  struct NoMemory : serve::Worker {
    NoMemory() { throw std::bad_alloc(); }
    void serve(serve::Stream& /*stream*/) override {}
  };
  Served<NoMemory> served;
  auto [mine, peer] = connected();
  served.give(std::move(mine));
  pollfd told{peer.get(), POLLIN, 0};
  REQUIRE(::poll(&told, 1, kMostMs) == 1);
  std::array<char, 100> answer;
  const ssize_t got = ::read(peer.get(), answer.data(), answer.size());
  REQUIRE(got > 0);
  CHECK(std::string_view(answer.data(), static_cast<std::size_t>(got)) == serve::busy_line());
  peer = net::Fd();
  CHECK(served.all_leave());
}

TEST_CASE("a connection that cannot be watched is closed, and leaves its place", "[serve]") {
  struct : events::Watch {
    void happened(std::uint32_t /*events*/) override {}
  } other;
  Served<Rests> served;
  auto [mine, peer] = connected();
  const int fd = mine.get();
  served.side().loop.post([&] { served.side().loop.watch(fd, EPOLLIN, other); });  // once is all
  served.give(std::move(mine));
  pollfd closed{peer.get(), POLLIN, 0};
  CHECK(::poll(&closed, 1, kMostMs) == 1);
  CHECK(served.all_leave());
  CHECK(served.side().connections() == 0);
}

TEST_CASE("a cut ends who sends to a peer that does not read", "[serve]") {
  Served<SendsWithoutEnd> served;
  auto [mine, peer] = connected();
  served.give(std::move(mine));
  pollfd sent{peer.get(), POLLIN, 0};
  REQUIRE(::poll(&sent, 1, kMostMs) == 1);
  std::atomic<int> count = 0;
  served.side().cut(count);
  CHECK(served.all_leave());
  CHECK(count == 1);
}
