#include "net/connect.h"

#include <netinet/tcp.h>

#include <array>
#include <cerrno>

#include "net/listen.h"
#include "net/socket_io.h"
#include "tests/catch.h"

namespace {

net::SocketAddress address_of(const net::Listener& listener) {
  return net::resolve(listener.address)->front();
}

}  // namespace

TEST_CASE("port 0 listens on a free port, and reports it", "[net]") {
  const auto listener = net::listen_on({"127.0.0.1", 0}, 0);
  REQUIRE(listener);
  CHECK(listener->address.port != 0);
  CHECK(net::connect_to(address_of(*listener), 1000).ok());
}

TEST_CASE("listening on a port in use fails", "[net]") {
  const auto first = net::listen_on({"127.0.0.1", 0}, 0);
  REQUIRE(first);
  const auto second = net::listen_on(first->address, 0);
  REQUIRE_FALSE(second);
  CHECK(second.error().context.find("Address already in use; another program uses the port, and "
                                    "port 0 takes a free one") != std::string::npos);
}

TEST_CASE("a bound address refuses connections until it listens", "[net]") {
  const auto listener = net::bind_to({"127.0.0.1", 0}, 0);
  REQUIRE(listener);
  CHECK(listener->address.port != 0);
  CHECK_FALSE(net::connect_to(address_of(*listener), 60'000).ok());
  REQUIRE(net::start_listening(*listener).ok());
  CHECK(net::connect_to(address_of(*listener), 60'000).ok());
}

TEST_CASE("of two programs that bound one address, only the first can listen", "[net]") {
  const auto first = net::bind_to({"127.0.0.1", 0}, 0);
  REQUIRE(first);
  const auto second = net::bind_to(first->address, 0);
  REQUIRE(net::start_listening(*first).ok());
  REQUIRE(second);
  const auto listening = net::start_listening(*second);
  REQUIRE_FALSE(listening);
  CHECK(listening.error().context.find("Address already in use") != std::string::npos);
}

TEST_CASE("connecting to a port without a listener fails at once", "[net]") {
  auto listener = net::listen_on({"127.0.0.1", 0}, 0);
  REQUIRE(listener);
  const auto address = address_of(*listener);
  listener->fd = net::Fd();
  const auto fd = net::connect_to(address, 60'000);
  REQUIRE_FALSE(fd);
  CHECK(fd.error().code == base::ErrorCode::kUnavailable);
}

TEST_CASE("accepted sockets inherit the listener's time slice", "[net]") {
  const auto listener = net::listen_on({"127.0.0.1", 0}, 10);
  REQUIRE(listener);
  const auto client = net::connect_to(address_of(*listener), 1000);
  REQUIRE(client);
  const auto accepted = net::accept_from(listener->fd.get());
  REQUIRE(accepted.verdict == net::AcceptVerdict::kAccepted);
  std::array<char, 1> byte;
  CHECK(net::receive(accepted.fd.get(), byte) == -1);
  CHECK(errno == EAGAIN);
}

TEST_CASE("an idle connection is usable until its peer sends or closes", "[net]") {
  const auto listener = net::listen_on({"127.0.0.1", 0}, 0);
  const auto client = net::connect_to(address_of(*listener), 1000);
  auto accepted = net::accept_from(listener->fd.get());
  REQUIRE(client);
  CHECK(net::is_quiet_and_open(client->get()));

  SECTION("unasked-for bytes") { REQUIRE(net::send_all(accepted.fd.get(), "x")); }
  SECTION("closed") { accepted.fd = net::Fd(); }
  REQUIRE(net::wait_until_readable(client->get(), base::Deadline::in_ms(60'000)));
  CHECK_FALSE(net::is_quiet_and_open(client->get()));
}

TEST_CASE("bytes that were sent and not read are counted", "[net]") {
  const auto listener = net::listen_on({"127.0.0.1", 0}, 0);
  const auto client = net::connect_to(address_of(*listener), 1000);
  const auto accepted = net::accept_from(listener->fd.get());
  REQUIRE(net::send_all(client->get(), "12345"));
  REQUIRE(net::wait_until_readable(accepted.fd.get(), base::Deadline::in_ms(60'000)));
  CHECK(net::unread_bytes(accepted.fd.get()) == 5);
}

TEST_CASE("the source address can be chosen", "[net]") {
  const auto listener = net::listen_on({"127.0.0.1", 0}, 0);
  const auto source = net::resolve({"127.0.0.77", 0})->front();
  const auto client = net::connect_to(address_of(*listener), 1000, &source);
  REQUIRE(client);
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  REQUIRE(::getsockname(client->get(), reinterpret_cast<sockaddr*>(&storage), &size) == 0);
  CHECK(net::SocketAddress(reinterpret_cast<sockaddr*>(&storage), size)
            .text()
            .starts_with("127.0.0.77:"));
}

TEST_CASE("the system queues at most 64 KiB for a peer, besides what is on its way", "[net]") {
  const auto listener = net::listen_on({"127.0.0.1", 0}, 0);
  const auto client = net::connect_to(address_of(*listener), 1000);
  const auto accepted = net::accept_from(listener->fd.get());
  REQUIRE(accepted.verdict == net::AcceptVerdict::kAccepted);
  int bytes = 0;
  socklen_t size = sizeof bytes;
  REQUIRE(::getsockopt(accepted.fd.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, &size) == 0);
  CHECK(bytes == 64 * 1024);
}
