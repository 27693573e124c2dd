#include "loadgen/clients/event_client.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "net/fd.h"
#include "tests/catch.h"

using loadgen::EventClient;
using State = EventClient::State;

namespace {

// A server of one connection, which the test plays.
class Server {
 public:
  Server() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener_.get(), 8) == 0);
    socklen_t size = sizeof address;
    REQUIRE(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    addresses_.emplace_back(reinterpret_cast<const sockaddr*>(&address), size);
  }

  const std::vector<net::SocketAddress>& addresses() const { return addresses_; }

  void accept() { connection_ = net::Fd(::accept(listener_.get(), nullptr, nullptr)); }
  // Also in a thread of the test's own, where nothing may be required. What was not sent is missed
  // by the client.
  void send(std::string_view bytes) const {
    [[maybe_unused]] const ssize_t sent = ::send(connection_.get(), bytes.data(), bytes.size(), 0);
  }
  void hang_up() { connection_ = {}; }
  void send_no_more() const { REQUIRE(::shutdown(connection_.get(), SHUT_WR) == 0); }

  std::string line() const {
    std::string line;
    char byte = 0;
    while (byte != '\n' && ::recv(connection_.get(), &byte, 1, 0) == 1) line += byte;
    return line;
  }

 private:
  const net::Fd listener_;
  net::Fd connection_;
  std::vector<net::SocketAddress> addresses_;
};

loadgen::Config kept() {
  loadgen::Config config;
  config.connection = loadgen::Connection::kKeepAlive;
  return config;
}

// The thread of one user, and a get of the native protocol.
struct User {
  User() {
    auto engine = loadgen::open_engine(loadgen::crowd::EngineKind::kEpoll, 1);
    REQUIRE(engine);
    tools.engine = std::move(*engine);
  }

  // Goes on until `state` is reached, at most ten seconds.
  State until(State state, State now) {
    for (int turn = 0; turn < 100 && now != state; ++turn) {
      std::vector<std::uint32_t> ready;
      REQUIRE(tools.engine->wait(now == State::kMore ? 0 : 100 * base::kNsPerMs, ready).ok());
      for (const std::uint32_t number : ready) client.note_ready(number > 0);
      if (!client.is_under_way()) return State::kDone;
      now = client.go_on();
    }
    return now;
  }

  // Waits until the engine has something to report, and tells the client.
  void wait_for_bytes() {
    std::vector<std::uint32_t> ready;
    for (int turn = 0; turn < 100 && ready.empty(); ++turn)
      REQUIRE(tools.engine->wait(100 * base::kNsPerMs, ready).ok());
    REQUIRE_FALSE(ready.empty());
    client.note_ready(false);
  }

  // Connects, and asks for the file.
  State ask() {
    until(State::kDone, client.prepare());
    server.accept();
    const State state = client.begin(request, true);
    CHECK(server.line() == "get:amy:p\n");
    return state;
  }

  Server server;
  loadgen::Config config = kept();
  loadgen::Sources sources;
  std::array<char, 256 * 1024> buffer{};
  loadgen::ClientTools tools{.config = config,
                             .servers = server.addresses(),
                             .sources = sources,
                             .series = nullptr,
                             .users = 1,
                             .buffer = buffer};
  loadgen::Request request{.account = {"amy", "p"}, .file_name = "a"};
  EventClient client{tools, 0, 0};
};

}  // namespace

TEST_CASE("a client whose replies come in pieces waits for each", "[loadgen][users]") {
  User user;
  State state = user.ask();
  for (const char* const piece : {"O", "K", "\n"}) {
    CHECK(state == State::kWaits);
    user.server.send(piece);
    user.wait_for_bytes();
    state = user.client.go_on();
  }
  CHECK(user.server.line() == "a\n");
  for (const char* const piece : {"OK 4", "\nab", "c"}) {
    user.server.send(piece);
    user.wait_for_bytes();
    CHECK(user.client.go_on() == State::kWaits);
  }
  user.server.send("d");
  CHECK(user.until(State::kDone, State::kWaits) == State::kDone);
  const loadgen::Exchange& exchange = user.client.exchange();
  CHECK_FALSE(exchange.failure);
  CHECK(exchange.announced_bytes == 4);
  CHECK(exchange.moved_bytes == 4);
  CHECK(exchange.started_ns <= exchange.first_byte_ns);
  CHECK(exchange.first_byte_ns < exchange.ended_ns);
  CHECK(user.client.connections() == 1);
}

TEST_CASE("a client whose bytes have come at its deadline is not late", "[loadgen][users]") {
  User user;
  CHECK(user.ask() == State::kWaits);
  user.server.send("OK\nOK 1\nx");
  user.wait_for_bytes();
  user.client.run_out_of_time();
  CHECK_FALSE(user.client.is_under_way());
  CHECK_FALSE(user.client.exchange().failure);
}

TEST_CASE("a client that waits at its deadline has a time-out and no connection",
          "[loadgen][users]") {
  User user;
  CHECK(user.ask() == State::kWaits);
  user.client.run_out_of_time();
  CHECK_FALSE(user.client.is_under_way());
  REQUIRE(user.client.exchange().failure);
  CHECK(*user.client.exchange().failure == loadgen::Fault::kTimeout);
  CHECK(user.server.line().find("get:") == std::string::npos);
}

TEST_CASE("a server that closes behind half of a file is noticed at once", "[loadgen][users]") {
  User user;
  CHECK(user.ask() == State::kWaits);
  user.server.send("OK\nOK 9\nx");
  user.server.hang_up();
  user.wait_for_bytes();
  CHECK(user.until(State::kDone, State::kWaits) == State::kDone);
  REQUIRE(user.client.exchange().failure);
  CHECK(*user.client.exchange().failure == loadgen::Fault::kClosed);
}

TEST_CASE("a kept connection of a client that ended is made again for a get", "[loadgen][users]") {
  User user;
  user.until(State::kDone, user.client.prepare());
  user.server.accept();
  user.server.hang_up();
  const State begun = user.client.begin(user.request, true);
  std::thread server([&user] {
    user.server.accept();
    user.server.line();
    user.server.send("OK\nOK 1\nx");
    user.server.line();
  });
  CHECK(user.until(State::kDone, begun) == State::kDone);
  server.join();
  CHECK_FALSE(user.client.exchange().failure);
  CHECK(user.client.reconnects() == 1);
}

// The next request is sent, and nobody says that it will have no answer.
TEST_CASE("a server that sends no more behind its reply is noticed by the next get",
          "[loadgen][users]") {
  User user;
  CHECK(user.ask() == State::kWaits);
  user.server.send("OK\nOK 1\nx");
  user.server.send_no_more();
  user.wait_for_bytes();
  State state = user.until(State::kDone, user.client.go_on());
  CHECK_FALSE(user.client.exchange().failure);
  std::thread server([&user] {
    user.server.accept();
    user.server.line();
    user.server.send("OK\nOK 1\nx");
    user.server.line();
  });
  state = user.until(State::kDone, user.client.begin(user.request, true));
  server.join();
  CHECK(state == State::kDone);
  CHECK_FALSE(user.client.exchange().failure);
  CHECK(user.client.reconnects() == 1);
}

TEST_CASE("a client leaves a large file to others after some calls", "[loadgen][users]") {
  User user;
  constexpr std::size_t kBytes = 64 * 1024 * 1024;
  State state = user.ask();
  std::thread server([&user] {
    user.server.send("OK\nOK " + std::to_string(kBytes) + "\n");
    const std::string piece(1024 * 1024, 'x');
    for (std::size_t sent = 0; sent < kBytes; sent += piece.size()) user.server.send(piece);
  });
  int turns = 0;
  for (; turns < 100'000 && state != State::kDone; ++turns) {
    std::vector<std::uint32_t> ready;
    REQUIRE(user.tools.engine->wait(state == State::kMore ? 0 : base::kNsPerS, ready).ok());
    if (!ready.empty()) user.client.note_ready(false);
    state = user.client.go_on();
  }
  server.join();
  CHECK(state == State::kDone);
  CHECK_FALSE(user.client.exchange().failure);
  CHECK(user.client.exchange().moved_bytes == kBytes);
  CHECK(turns >= 64 / 4);  // 4 calls of 256 KiB move 1 MiB
}
