#include "net/abstract_socket.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "net/listen.h"
#include "net/socket_io.h"
#include "tests/catch.h"

namespace {

std::string name_of_test() { return "turnstile-test-" + std::to_string(::getpid()); }

}  // namespace

TEST_CASE("an abstract socket takes connections and tells both ends who the other is", "[net]") {
  const std::string name = name_of_test();
  const auto listener = net::listen_on_abstract(name);
  REQUIRE(listener);
  CHECK(net::accept_from(listener->get()).verdict == net::AcceptVerdict::kTryAgain);
  const auto client = net::connect_to_abstract(name);
  REQUIRE(client);
  const auto accepted = net::accept_from(listener->get());
  REQUIRE(accepted.verdict == net::AcceptVerdict::kAccepted);
  for (const int end : {client->get(), accepted.fd.get()}) {
    const auto peer = net::credentials_of_peer(end);
    REQUIRE(peer);
    CHECK(peer->pid == ::getpid());
    CHECK(peer->uid == ::geteuid());
  }
  REQUIRE(net::send_all(client->get(), "x"));
  std::array<char, 1> byte{};
  CHECK(net::receive(accepted.fd.get(), byte) == 1);
}

TEST_CASE("an abstract name belongs to one socket, is listed, and goes with it", "[net]") {
  const std::string name = name_of_test();
  const auto is_listed = [&] {
    const auto names = net::abstract_listeners(name.substr(0, name.size() - 1));
    return std::ranges::find(names, name) != names.end();
  };
  CHECK_FALSE(net::connect_to_abstract(name));
  {
    const auto listener = net::listen_on_abstract(name);
    REQUIRE(listener);
    CHECK(is_listed());
    CHECK_FALSE(net::listen_on_abstract(name));
    CHECK_FALSE(net::connect_to_abstract(name + "-"));
  }
  CHECK_FALSE(is_listed());
}

TEST_CASE("what is no connected socket of Unix has no credentials", "[net]") {
  CHECK_FALSE(net::credentials_of_peer(-1));
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const net::Fd read_end(ends[0]);
  const net::Fd write_end(ends[1]);
  CHECK_FALSE(net::credentials_of_peer(read_end.get()));
}
