#include "tls/client_context.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "net/fd.h"
#include "net/socket_io.h"
#include "tests/catch.h"
#include "tests/lib/tls/certificate.h"
#include "tests/temporary_folder.h"
#include "tls/renewed_context.h"
#include "tls/server_context.h"

namespace {

struct Ends {
  Ends() {
    int made[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, made) == 0);
    client = net::Fd(made[0]);
    server = net::Fd(made[1]);
  }
  net::Fd client;
  net::Fd server;
};

// A server that believes its own certificate only, and clients with it.
class Scene {
 public:
  Scene()
      : files(tests::make_certificate(folder.path())),
        server(std::move(*tls::ServerContext::open(files, files.certificate))) {}

  base::Result<tls::Socket> connect(const tls::ClientFiles& own,
                                    const std::string& name = "localhost",
                                    std::int64_t time_ms = 10'000) {
    tls::ClientContext client(own, "turnstile");
    if (const auto done = client.open(); !done) return done.error();
    return client.encrypt(std::move(ends.client), name, 1000, base::Deadline::in_ms(time_ms));
  }

  // Serves in a thread of its own: answers each line with itself.
  std::jthread echoes() {
    return std::jthread([this] {
      const auto channel = server->accept(ends.server.get(), tls::Spoken::kLines, 0);
      std::array<char, 100> bytes;
      for (;;) {
        const ssize_t got = channel->receive(bytes);
        if (got < 0 && errno == EAGAIN) continue;
        if (got <= 0) break;
        channel->send(std::span(bytes).first(static_cast<std::size_t>(got)),
                      std::span<const char>());
      }
      ::shutdown(ends.server.get(), SHUT_RDWR);
    });
  }

  const tests::TemporaryFolder folder;
  const tls::Files files;
  const std::unique_ptr<tls::ServerContext> server;
  Ends ends;
};

std::string take(tls::Socket& socket, std::size_t size) {
  std::string all;
  std::array<char, 100> bytes;
  while (all.size() < size) {
    const ssize_t got = socket.receive_by(bytes, base::Deadline::in_ms(10'000));
    REQUIRE(got > 0);
    all.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return all;
}

}  // namespace

TEST_CASE("a client and a server that believe each other speak", "[tls]") {
  Scene scene;
  const auto server = scene.echoes();
  auto socket = scene.connect({scene.files.certificate, scene.files});
  REQUIRE(socket);
  CHECK(socket->send_all("one\n"));
  CHECK(take(*socket, 4) == "one\n");
  CHECK(socket->is_quiet_and_open());
  CHECK(socket->send_now("two\n") == 4);
  CHECK(take(*socket, 4) == "two\n");
  CHECK(socket->failure().empty());
}

TEST_CASE("a client that never waits goes on with its handshake as bytes come", "[tls]") {
  Scene scene;
  std::jthread server;
  tls::ClientContext client({scene.files.certificate, scene.files}, "turnstile");
  REQUIRE(client.open());
  tls::Socket socket = client.begin(std::move(scene.ends.client), "localhost", 1000);
  auto made = socket.channel()->try_to_shake_hands();
  REQUIRE(made);
  CHECK_FALSE(*made);
  CHECK(socket.channel()->wanted() == POLLIN);
  CHECK(socket.channel()->session() == nullptr);
  server = scene.echoes();
  while (made && !*made) {
    REQUIRE(net::wait_until_readable(socket.get(), base::Deadline::in_ms(10'000)));
    made = socket.channel()->try_to_shake_hands();
  }
  REQUIRE(made);
  CHECK(socket.send_now("one\n") == 4);
  std::array<char, 2> half;
  CHECK(socket.receive_by(half, base::Deadline::in_ms(10'000)) == 2);
  CHECK(socket.has_pending());
  CHECK(take(socket, 2) == "e\n");
  CHECK_FALSE(socket.has_pending());
}

TEST_CASE("a certificate of another name is not believed", "[tls]") {
  const std::string name = GENERATE("127.0.0.1", "localhost.example");
  Scene scene;
  const auto server = scene.echoes();
  const auto socket = scene.connect({scene.files.certificate, scene.files}, name);
  REQUIRE_FALSE(socket);
  CHECK(socket.error().code == base::ErrorCode::kUnavailable);
  CHECK(socket.error().context.find("mismatch") != std::string::npos);
}

TEST_CASE("a server learns that a client has no certificate, and the client why", "[tls]") {
  Scene scene;
  const auto server = scene.echoes();
  auto socket = scene.connect({scene.files.certificate});
  if (socket) {  // of TLS 1.3 the client learns it later
    std::array<char, 10> bytes;
    CHECK(socket->receive_by(bytes, base::Deadline::in_ms(10'000)) < 0);
    CHECK(errno == EPROTO);
    CHECK(socket->failure().find("certificate required") != std::string::npos);
  }
}

TEST_CASE("a peer that does not speak TLS is told from one that is late", "[tls]") {
  Scene scene;
  SECTION("it speaks in clear") {
    net::send_all(scene.ends.server.get(), "ERR syntax what is that\n");
    const auto socket = scene.connect({scene.files.certificate});
    REQUIRE_FALSE(socket);
    CHECK(socket.error().context == "no TLS: the peer does not speak TLS");
  }
  SECTION("it says nothing") {
    const auto socket = scene.connect({scene.files.certificate}, "localhost", 20);
    REQUIRE_FALSE(socket);
    CHECK(socket.error().context == "no TLS: the handshake was not made in time");
  }
  SECTION("it has gone") {
    scene.ends.server = net::Fd();
    CHECK_FALSE(scene.connect({scene.files.certificate}));
  }
}

TEST_CASE("an answer that does not come ends with the deadline, also in the middle of a record",
          "[tls]") {
  Scene scene;
  std::unique_ptr<tls::Channel> channel;
  std::jthread shakes_hands([&] {
    channel = scene.server->accept(scene.ends.server.get(), tls::Spoken::kLines, 0);
    std::array<char, 10> nothing;
    while (!channel->is_established()) channel->receive(nothing);
  });
  auto socket = scene.connect({scene.files.certificate, scene.files});
  REQUIRE(socket);
  shakes_hands.join();
  net::send_all(scene.ends.server.get(), std::string_view("\x17\x03\x03\x00\x30half", 9));
  std::array<char, 10> bytes;
  CHECK(socket->receive_by(bytes, base::Deadline::in_ms(20)) < 0);
  CHECK(errno == EAGAIN);
  CHECK_FALSE(socket->is_quiet_and_open());
}

TEST_CASE("what a process reads again its children read before they use it", "[tls]") {
  int readings = 0;
  tls::RenewedContext context([&]() -> base::Result<std::shared_ptr<ssl_ctx_st>> {
    ++readings;
    return std::shared_ptr<ssl_ctx_st>();
  });
  REQUIRE(context.open());
  int tells[2];
  REQUIRE(::pipe(tells) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char told = 0;
    if (::read(tells[0], &told, 1) != 1) ::_exit(1);
    context.current();
    context.current();
    ::_exit(readings == 2 ? 0 : 1);
  }
  REQUIRE(context.read_again());
  context.current();
  CHECK(readings == 2);
  CHECK(::write(tells[1], "x", 1) == 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  ::close(tells[0]);
  ::close(tells[1]);
}
