#include "fileserver/auth_client.h"

#include <sys/socket.h>

#include <array>
#include <thread>
#include <vector>

#include "net/listen.h"
#include "net/socket_io.h"
#include "tests/catch.h"

namespace {

net::Listener listener_on(const char* host) {
  auto listener = net::listen_on({host, 0}, 0);
  REQUIRE(listener);
  return std::move(*listener);
}

net::SocketAddress address_of(const net::Listener& listener) {
  return net::resolve(listener.address)->front();
}

// Answers OK to the first line of every connection.
class Answering {
 public:
  Answering() : listener_(listener_on("127.0.0.3")), thread_([this] { run(); }) {}
  ~Answering() {
    ::shutdown(listener_.fd.get(), SHUT_RD);
    thread_.join();
  }
  net::SocketAddress address() const { return address_of(listener_); }

 private:
  void run() {
    for (;;) {
      const net::Accepted accepted = net::accept_from(listener_.fd.get());
      if (accepted.verdict == net::AcceptVerdict::kListenerGone) return;
      std::array<char, 600> line;
      if (net::receive(accepted.fd.get(), line) > 0) net::send_all(accepted.fd.get(), "OK\n");
    }
  }

  const net::Listener listener_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("an authserver that accepts and does not answer is passed over", "[fileserver]") {
  const net::Listener hanging = listener_on("127.0.0.2");  // the kernel accepts for it
  const Answering answering;
  const std::vector<net::SocketAddress> both{address_of(hanging), answering.address()};
  fileserver::AuthClient client({"authserver", 9001}, fileserver::AuthConnection::kPerRequest, 4000,
                                [both](const net::HostPort&) { return both; });
  for (int i = 0; i < 4; ++i) CHECK(client.ask(wire::Auth{{"bob", "pw"}}).ok());
}
