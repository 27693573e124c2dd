// Several connections for one file, before there is a file.
#include "loadgen/clients/channels/client.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <vector>

#include "net/fd.h"
#include "tests/catch.h"

TEST_CASE("kept connections are there before the first file is asked for", "[channels]") {
  const net::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(listener.get(), 8) == 0);
  REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const std::vector servers{net::SocketAddress(reinterpret_cast<sockaddr*>(&address), size)};

  loadgen::Config config;
  config.protocol = loadgen::Protocol::kHttp;
  config.channels.count = 3;
  const loadgen::Sources sources;
  for (const bool is_kept : {true, false}) {
    config.connection =
        is_kept ? loadgen::Connection::kKeepAlive : loadgen::Connection::kPerRequest;
    loadgen::ChannelClient client(config, servers, sources, 0, nullptr);
    client.prepare();
    CHECK(client.connections() == (is_kept ? 3 : 0));
  }
}
