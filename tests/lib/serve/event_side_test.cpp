#include "serve/event_side.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <latch>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// Some loops, to which a test gives connections.
template <typename Server>
class Served {
 public:
  explicit Served(std::size_t loops = 1, const serve::Options& options = {.idle_timeout_ms = 0})
      : common(options, serve::only({std::move(*net::listen_on({"127.0.0.1", 0}, 0)),
                                     [] { return std::make_unique<Server>(); }})) {
    while (common.sides.size() < loops)
      common.sides.push_back(std::make_unique<serve::Side>(common));
    for (const auto& one : common.sides) one->start();
  }
  ~Served() {
    common.entrances.front()->acceptor.stop();
    for (const auto& one : common.sides) one->drain();
    for (const auto& one : common.sides) one->stop();
    for (const auto& one : common.sides) one->thread.join();
  }

  void give(net::Fd fd) { give(std::move(fd), side(), {}); }
  void give(net::Fd fd, serve::Side& to, const net::IpAddress& peer) {
    REQUIRE(common.take_place());
    REQUIRE(to.take_from_other({std::move(fd), peer}, 0));
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

TEST_CASE("a newcomer passes over a loop that is held up when one has to give way", "[serve]") {
  constexpr int kPlaces = 8;
  // They outlive the loops.
  std::latch begun(2);  // the loop that is held up, and the connections
  std::latch may_go_on(1);
  Served<Rests> served(3, {.max_connections = kPlaces, .idle_timeout_ms = 0});
  auto& sides = served.common.sides;
  std::vector<net::Fd> peers;
  for (int i = 0; i < kPlaces; ++i) {
    auto [mine, peer] = connected();
    served.give(std::move(mine), *sides[2], net::parse_ip_address("192.0.2.1").value());
    peers.push_back(std::move(peer));
  }
  sides[2]->loop.post([&] { begun.count_down(); });
  sides[1]->loop.post([&] {
    begun.count_down();
    may_go_on.wait();
  });
  begun.wait();
  const auto stands_still = [&](int side) {
    return sides[static_cast<std::size_t>(side)]->loop.stands_still(base::now_ns());
  };
  while (!stands_still(1) || stands_still(2)) base::pause_ms(1);
  auto [mine, newcomer] = connected();
  sides[0]->loop.post([&, fd = mine.release()] {
    sides[0]->admit({net::Fd(fd), net::parse_ip_address("192.0.2.2").value()},
                    *served.common.entrances.front(), 0);
  });
  std::vector<pollfd> ended;
  for (const net::Fd& peer : peers) ended.push_back({peer.get(), POLLIN, 0});
  CHECK(::poll(ended.data(), ended.size(), kMostMs) == 1);
  may_go_on.count_down();
  peers.clear();
  newcomer = net::Fd();
  CHECK(served.all_leave());
}
