#include "fileserver/auth/auth_client.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "net/listen.h"
#include "net/socket_io.h"
#include "tests/catch.h"
#include "tests/fileserver/auth/scripted_authserver.h"

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

// Accepts and closes all connections that wait. Returns how many there were.
int taken_from(const net::Listener& listener) {
  int count = 0;
  pollfd waiting{listener.fd.get(), POLLIN, 0};
  for (; ::poll(&waiting, 1, 0) > 0; ++count) (void)net::accept_from(listener.fd.get());
  return count;
}

// Answers OK to the first line of every connection, and then keeps it open without a word.
class AnsweringOnce {
 public:
  AnsweringOnce() : listener_(listener_on("127.0.0.4")), thread_([this] { run(); }) {}
  ~AnsweringOnce() { stop(); }

  // The address as --auth takes it.
  net::HostPort address() const { return listener_.address; }

  // How many lines began with `verb`, which is told when the server has stopped.
  long stop_and_count(const std::string& verb) {
    stop();
    return std::count_if(lines_.begin(), lines_.end(),
                         [&](const std::string& line) { return line.starts_with(verb); });
  }

 private:
  void stop() {
    ::shutdown(listener_.fd.get(), SHUT_RD);
    if (thread_.joinable()) thread_.join();
  }

  void run() {
    for (;;) {
      net::Accepted accepted = net::accept_from(listener_.fd.get());
      if (accepted.verdict == net::AcceptVerdict::kListenerGone) break;
      lines_.push_back(next_line(accepted.fd.get()));
      net::send_all(accepted.fd.get(), "OK\n");
      open_.push_back(std::move(accepted.fd));
    }
    for (const net::Fd& fd : open_) {
      if (net::unread_bytes(fd.get()) > 0) lines_.push_back(next_line(fd.get()));
    }
  }

  static std::string next_line(int fd) {
    std::array<char, 600> bytes;
    const ssize_t got = net::receive(fd, bytes);
    return {bytes.data(), static_cast<std::size_t>(got > 0 ? got : 0)};
  }

  const net::Listener listener_;
  std::vector<net::Fd> open_;
  std::vector<std::string> lines_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("an authserver that accepts and does not answer is passed over", "[fileserver]") {
  const net::Listener hanging = listener_on("127.0.0.2");  // the kernel accepts for it
  const Answering answering;
  const std::vector<net::SocketAddress> both{address_of(hanging), answering.address()};
  fileserver::AuthClient client(
      {{"authserver", 9001}, fileserver::AuthConnection::kPerRequest, 4000},
      [both](const net::HostPort&) { return both; });
  for (int i = 0; i < 4; ++i) CHECK(client.ask(wire::Auth{{"bob", "pw"}}).ok());
}

TEST_CASE("an authserver that did not answer gets no connection for a second", "[fileserver]") {
  const net::Listener hanging = listener_on("127.0.0.2");
  const Answering answering;
  const std::vector<net::SocketAddress> both{address_of(hanging), answering.address()};
  fileserver::AuthClient client(
      {{"authserver", 9001}, fileserver::AuthConnection::kPerRequest, 300},
      [both](const net::HostPort&) { return both; });
  for (int i = 0; i < 100; ++i) {
    const std::int64_t began_ns = base::now_ns();
    (void)client.ask(wire::Ping{});
    if (taken_from(hanging) == 0) continue;  // it was not the turn of that address
    for (int j = 0; j < 2; ++j) (void)client.ask(wire::Ping{});
    const int connections = taken_from(hanging);
    if (base::now_ns() - began_ns > base::kNsPerS) continue;  // so it was not skipped any more
    CHECK(connections == 0);
    return;
  }
  FAIL("the machine is too slow for this test");
}

TEST_CASE("an `auth` or `ping` on a kept connection that hangs is answered on a new one",
          "[fileserver]") {
  AnsweringOnce server;
  fileserver::AuthClient client({server.address(), fileserver::AuthConnection::kPersistent, 3000});
  CHECK(client.ask(wire::Auth{{"bob", "pw"}}).ok());
  CHECK(client.ask(wire::Auth{{"bob", "pw"}}).ok());
  CHECK(client.ask(wire::Ping{}).ok());
}

TEST_CASE("a `new` on a kept connection that hangs is not repeated", "[fileserver]") {
  AnsweringOnce server;
  fileserver::AuthClient client({server.address(), fileserver::AuthConnection::kPersistent, 500});
  REQUIRE(client.ask(wire::Ping{}).ok());
  const auto answer = client.ask(wire::New{{"bob", "pw"}});
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().code == base::ErrorCode::kUnavailable);
  CHECK(server.stop_and_count("new:") == 1);
}

TEST_CASE("a `new` that one authserver does not answer is not sent to another one",
          "[fileserver]") {
  const net::Listener hanging = listener_on("127.0.0.2");
  std::atomic<int> asked = 0;
  tests::ScriptedAuthserver answering([&](tests::ScriptedAuthserver::Peer& peer) {
    while (peer.next_line()) {
      ++asked;
      peer.send("OK\n");
    }
  });
  const std::vector<net::SocketAddress> both{address_of(hanging),
                                             net::resolve(answering.address())->front()};
  fileserver::AuthClient client(
      {{"authserver", 9001}, fileserver::AuthConnection::kPerRequest, 3000},
      [both](const net::HostPort&) { return both; });
  int made = 0;
  for (int i = 0; i < 2; ++i) made += client.ask(wire::New{{"bob", "pw"}}).ok() ? 1 : 0;
  CHECK(made == 1);  // each of the two was the first one once
  CHECK(asked == 1);
}

TEST_CASE("credentials that are not acceptable are not sent to the authserver", "[fileserver]") {
  using base::ErrorCode;
  using Bytes = std::string;
  AnsweringOnce server;
  fileserver::AuthClient client(
      {server.address(), fileserver::AuthConnection::kPerRequest, 10'000});
  const std::vector<std::pair<wire::Credentials, ErrorCode>> refused{
      {{"bob", "pw\nnew:eve:pw"}, ErrorCode::kSyntax},
      {{"bob\n", "pw"}, ErrorCode::kSyntax},
      {{"bob", "pw\r"}, ErrorCode::kSyntax},
      {{"bob", {"p\0w", 3}}, ErrorCode::kSyntax},
      {{{"b\0b", 3}, "pw"}, ErrorCode::kSyntax},
      {{"bob", "pw\x7f"}, ErrorCode::kSyntax},
      {{"bob:x", "pw"}, ErrorCode::kInvalid},
      {{"", "pw"}, ErrorCode::kInvalid},
      {{"bob", ""}, ErrorCode::kInvalid},
  };
  for (const auto& [account, code] : refused) {
    CAPTURE(Bytes(account.user), Bytes(account.password));
    const auto auth = client.ask(wire::Auth{account});
    const auto made = client.ask(wire::New{account});
    REQUIRE((!auth.ok() && !made.ok()));
    CHECK(auth.error().code == code);
    CHECK(made.error().code == code);
  }
  const Bytes long_user(65, 'u');
  const Bytes long_password(129, 'p');
  CHECK(client.ask(wire::Auth{{long_user, "pw"}}).error().code == ErrorCode::kInvalid);
  CHECK(client.ask(wire::New{{"bob", long_password}}).error().code == ErrorCode::kInvalid);
  CHECK(server.stop_and_count("") == 0);
}

TEST_CASE("however connections are cut, nobody gets the answer to another question",
          "[fileserver]") {
  constexpr int kThreads = 12;
  constexpr int kQuestions = 150;
  // Grants users with an even number. Cuts each connection after some answers, and sometimes in
  // the middle of one.
  std::atomic<unsigned> seed = 1;
  tests::ScriptedAuthserver server([&](tests::ScriptedAuthserver::Peer& peer) {
    const unsigned cut = seed++ * 2654435761U >> 20;
    for (unsigned left = cut % 120; const auto line = peer.next_line(); --left) {
      const bool is_even = (line->at(line->find(':', 5) - 1) - '0') % 2 == 0;
      const std::string answer = is_even ? "OK\n" : "ERR denied no\n";
      if (left == 0) {
        peer.send(answer.substr(0, cut % 3));
        return;
      }
      if (left % 16 == 7) peer.send(answer.substr(0, 1));
      if (!peer.send(answer.substr(left % 16 == 7 ? 1 : 0))) return;
    }
  });
  fileserver::AuthClient client(
      {server.address(), fileserver::AuthConnection::kPersistent, 60'000});
  std::atomic<int> wrong = 0;
  std::atomic<int> granted = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kQuestions; ++i) {
        const std::string user = "u" + std::to_string(t * kQuestions + i);
        const auto answer =
            client.ask(wire::Auth{{user, "pw"}}, fileserver::AuthClient::Sharing::kAllowed);
        if (answer.ok()) ++granted;
        const bool is_unavailable =
            !answer.ok() && answer.error().code == base::ErrorCode::kUnavailable;
        if (!is_unavailable && answer.ok() != (i % 2 == 0)) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(granted > kThreads * kQuestions / 4);
}

TEST_CASE("an `auth` on a lane that hangs is answered on a new connection", "[fileserver]") {
  AnsweringOnce server;
  fileserver::AuthClient client({server.address(), fileserver::AuthConnection::kPersistent, 3000});
  const auto ask = [&] {
    return client.ask(wire::Auth{{"bob", "pw"}}, fileserver::AuthClient::Sharing::kAllowed);
  };
  for (int i = 0; i < 3; ++i) CHECK(ask().ok());
}

TEST_CASE("when a kept connection hangs, the other ones are closed", "[fileserver]") {
  constexpr std::int64_t kAMinuteMs = 60'000;
  tests::Gate gate;
  std::atomic<int> connections = 0;
  std::atomic<int> ended = 0;
  std::atomic<bool> hangs = false;
  tests::ScriptedAuthserver server([&](tests::ScriptedAuthserver::Peer& peer) {
    const bool is_of_those_that_hang = ++connections <= 3;
    while (peer.next_line()) {
      if (hangs && is_of_those_that_hang) continue;
      gate.pass();
      peer.send("OK\n");
    }
    ++ended;
  });
  fileserver::AuthClient client({server.address(), fileserver::AuthConnection::kPersistent, 3000});
  gate.set_open(false);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] { (void)client.ask(wire::Auth{{"bob", "pw"}}); });
  while (gate.waiting() < 3) base::pause_ms(1);
  gate.set_open(true);
  for (auto& thread : threads) thread.join();
  CHECK(ended == 0);
  hangs = true;
  CHECK(client.ask(wire::Auth{{"bob", "pw"}}).ok());
  const auto deadline = base::Deadline::in_ms(kAMinuteMs / 6);
  while (ended < 3 && !deadline.has_passed()) base::pause_ms(1);
  CHECK(ended == 3);
}

TEST_CASE("with several authservers each question has a connection of its own", "[fileserver]") {
  constexpr std::int64_t kAMinuteMs = 60'000;
  tests::Gate gate;
  const auto converse = [&](tests::ScriptedAuthserver::Peer& peer) {
    while (peer.next_line()) {
      gate.pass();
      peer.send("OK\n");
    }
  };
  tests::ScriptedAuthserver one(converse);
  tests::ScriptedAuthserver other(converse);
  const std::vector<net::SocketAddress> both{net::resolve(one.address())->front(),
                                             net::resolve(other.address())->front()};
  fileserver::AuthClient client(
      {{"authserver", 9001}, fileserver::AuthConnection::kPersistent, kAMinuteMs},
      [both](const net::HostPort&) { return both; }, fileserver::AuthAddresses::OutageLog::kOn,
      {kAMinuteMs * base::kNsPerMs, kAMinuteMs});
  std::atomic<int> granted = 0;
  for (int round = 0; round < 2; ++round) {  // the second one finds kept connections
    gate.set_open(false);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        const auto answer =
            client.ask(wire::Auth{{"bob", "pw"}}, fileserver::AuthClient::Sharing::kAllowed);
        if (answer.ok()) ++granted;
      });
    }
    while (gate.waiting() < 3) base::pause_ms(1);
    gate.set_open(true);
    for (auto& thread : threads) thread.join();
  }
  CHECK(granted == 6);
}
