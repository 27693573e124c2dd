#include "net/listen.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

#include "net/connect.h"
#include "tests/catch.h"

namespace {

struct Accepting {
  net::Listener listener = std::move(*net::listen_on({"127.0.0.1", 0}, 0));
  net::SocketAddress address = net::resolve(listener.address)->front();
};

int option(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  CHECK(::getsockopt(fd, level, name, &value, &size) == 0);
  return value;
}

}  // namespace

TEST_CASE("small replies are sent at once on both ends of a connection", "[net]") {
  const Accepting server;
  const auto client = net::connect_to(server.address, 60'000);
  REQUIRE(client);
  const auto accepted = net::accept_from(server.listener.fd.get());
  CHECK(option(client->get(), IPPROTO_TCP, TCP_NODELAY) == 1);
  CHECK(option(accepted.fd.get(), IPPROTO_TCP, TCP_NODELAY) == 1);
}

TEST_CASE("the system asks after the peer of an accepted connection within two minutes", "[net]") {
  const Accepting server;
  const auto client = net::connect_to(server.address, 60'000);
  REQUIRE(client);
  const auto accepted = net::accept_from(server.listener.fd.get());
  const int fd = accepted.fd.get();
  CHECK(option(fd, SOL_SOCKET, SO_KEEPALIVE) == 1);
  const int idle_s = option(fd, IPPROTO_TCP, TCP_KEEPIDLE);
  const int asking_s =
      option(fd, IPPROTO_TCP, TCP_KEEPINTVL) * option(fd, IPPROTO_TCP, TCP_KEEPCNT);
  CHECK(idle_s + asking_s <= 120);
}

TEST_CASE("the system accepts on behalf of a listener that is busy", "[net]") {
  const Accepting server;
  const int wanted = std::min(net::longest_backlog(), 200);
  std::vector<net::Fd> clients;
  for (int i = 0; i < wanted; ++i) {
    auto client = net::connect_to(server.address, 10'000);
    REQUIRE(client);
    clients.push_back(std::move(*client));
  }
}

TEST_CASE("accepted connections have the send buffer that was asked for", "[net]") {
  const auto size_of = [](int asked_bytes) {
    auto listener = std::move(*net::bind_to({"127.0.0.1", 0}, 0, asked_bytes));
    REQUIRE(net::start_listening(listener));
    const auto client = net::connect_to(net::resolve(listener.address)->front(), 60'000);
    REQUIRE(client);
    const auto accepted = net::accept_from(listener.fd.get());
    return option(accepted.fd.get(), SOL_SOCKET, SO_SNDBUF);
  };
  CHECK(size_of(10'000) == 20'000);  // the system doubles it
  CHECK(size_of(0) > 20'000);
}
