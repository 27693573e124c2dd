#include "net/local_listener.h"

#include "net/listen.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using net::HostPort;
using net::is_nobody_listening_at;

TEST_CASE("a port of this host at which nobody listens is known", "[net]") {
  std::uint16_t port = 0;
  {
    const auto listener = net::listen_on({"127.0.0.1", 0}, 0);
    REQUIRE(listener);
    port = listener->address.port;
    CHECK_FALSE(is_nobody_listening_at({"127.0.0.1", port}));
    CHECK_FALSE(is_nobody_listening_at({"localhost", port}));
  }
  CHECK(is_nobody_listening_at({"127.0.0.1", port}));
  CHECK(is_nobody_listening_at({"localhost", port}));
}

TEST_CASE("a socket that is open and does not listen is nobody", "[net]") {
  const tests::TemporaryFolder folder;
  folder.write("proc/self/net/tcp",
               "  sl  local_address rem_address   st\n"
               "   0: 0100007F:2329 0100007F:A96B 01 more\n"
               "   1: 00000000:0050 00000000:0000 0A more\n"
               "   2: nonsense\n");
  CHECK(is_nobody_listening_at({"127.0.0.1", 9001}, folder.path("")));
  CHECK_FALSE(is_nobody_listening_at({"127.0.0.1", 80}, folder.path("")));
  folder.write(
      "proc/self/net/tcp6",
      "  sl  local_address                         remote_address                        st\n"
      "   0: 00000000000000000000000001000000:2329 00000000000000000000000000000000:0000 0A\n");
  CHECK_FALSE(is_nobody_listening_at({"127.0.0.1", 9001}, folder.path("")));
}

TEST_CASE("of another host, of a name and without /proc nothing is known", "[net]") {
  const tests::TemporaryFolder folder;
  CHECK_FALSE(is_nobody_listening_at({"192.0.2.1", 1}));
  CHECK_FALSE(is_nobody_listening_at({"authserver", 1}));
  CHECK_FALSE(is_nobody_listening_at({"127.0.0.1", 1}, folder.path("")));
}

TEST_CASE("a Unix-domain socket that is not there is nobody", "[net]") {
  const tests::TemporaryFolder folder;
  CHECK(is_nobody_listening_at({"unix:" + folder.path("none"), 0}));
  folder.write("some", "");
  CHECK_FALSE(is_nobody_listening_at({"unix:" + folder.path("some"), 0}));
}
