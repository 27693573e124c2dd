#include "fileserver/auth/auth_addresses.h"

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <string>
#include <thread>

#include "net/connect.h"
#include "net/listen.h"
#include "tests/catch.h"
#include "tests/no_threads.h"
#include "wire/error_word.h"

using fileserver::AuthAddresses;

namespace {

using Addresses = std::vector<net::SocketAddress>;

constexpr std::int64_t kLongWaitMs = 30'000;
const net::HostPort kName{"authserver", 9001};

net::SocketAddress address_at(const net::HostPort& numeric) {
  return net::resolve(numeric)->front();
}

net::Listener listener_on(const net::HostPort& address) {
  auto listener = net::listen_on(address, 0);
  REQUIRE(listener);
  return std::move(*listener);
}

// Listens on an address of its own until stop().
class Listening {
 public:
  explicit Listening(const std::string& host) : listener_(listener_on({host, 0})) {}

  net::SocketAddress address() const { return address_at(listener_.address); }
  void stop() { listener_.fd = net::Fd(); }
  void start_again() { listener_ = listener_on(listener_.address); }

 private:
  net::Listener listener_;
};

// Listens, but neither accepts nor refuses a connection, because its queue is full.
class Silent {
 public:
  Silent() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto any_port = address_at({"127.0.0.9", 0});
    REQUIRE(::bind(fd_.get(), any_port.get(), any_port.size()) == 0);
    REQUIRE(::listen(fd_.get(), 0) == 0);
    for (auto fd = net::connect_to(address(), 50); fd.ok(); fd = net::connect_to(address(), 50)) {
      queued_.push_back(std::move(*fd));
    }
  }

  net::SocketAddress address() const {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&storage), &size);
    return {reinterpret_cast<sockaddr*>(&storage), size};
  }

 private:
  net::Fd fd_;
  std::vector<net::Fd> queued_;
};

// The address that a new connection reaches, or the code of the error.
std::string reached_by(AuthAddresses& addresses, std::int64_t within_ms = kLongWaitMs) {
  const auto link = addresses.connect(within_ms, base::Deadline::in_ms(within_ms));
  if (!link) return std::string(wire::word_of(link.error().code));
  addresses.note_answer(link->address);
  CHECK(net::peer_of(link->socket.get()) == link->address);
  return link->address.text();
}

std::map<std::string, int> reached_by_each(AuthAddresses& addresses, int count) {
  std::map<std::string, int> times;
  for (int i = 0; i < count; ++i) ++times[reached_by(addresses)];
  return times;
}

AuthAddresses standing_for(Addresses addresses) {
  return AuthAddresses(
      kName, [addresses = std::move(addresses)](const net::HostPort&) { return addresses; });
}

}  // namespace

TEST_CASE("connections are spread evenly over all addresses of the name", "[fileserver]") {
  const Listening one("127.0.0.2");
  const Listening two("127.0.0.3");
  const Listening three("127.0.0.4");
  auto addresses = standing_for({one.address(), two.address(), three.address()});
  const auto times = reached_by_each(addresses, 30);
  CHECK(times == std::map<std::string, int>{{one.address().text(), 10},
                                            {two.address().text(), 10},
                                            {three.address().text(), 10}});
}

TEST_CASE("an address that is down is skipped, and used again once it is up", "[fileserver]") {
  Listening one("127.0.0.2");
  const Listening two("127.0.0.3");
  auto addresses = standing_for({one.address(), two.address()});
  one.stop();
  CHECK(reached_by_each(addresses, 20) == std::map<std::string, int>{{two.address().text(), 20}});

  one.start_again();
  const auto deadline = base::Deadline::in_ms(kLongWaitMs);
  while (reached_by(addresses) != one.address().text() && !deadline.has_passed()) {
    std::this_thread::sleep_for(
        std::chrono::milliseconds(10));  // nobody accepts: the queues are bounded
  }
  CHECK(reached_by_each(addresses, 20).size() == 2);
}

TEST_CASE("one caller in a second tries an address that failed", "[fileserver]") {
  constexpr std::int64_t kSkipMs = 1000;
  const Listening one("127.0.0.2");
  const Listening two("127.0.0.3");
  auto addresses = standing_for({one.address(), two.address()});
  const auto connects_to_one = [&] {
    const auto link = addresses.connect(kLongWaitMs, base::Deadline::in_ms(kLongWaitMs));
    REQUIRE(link);
    return link->address == one.address();
  };
  connects_to_one();
  addresses.note_no_answer(one.address(), "it does not answer", base::now_ns());
  for (;;) {
    base::pause_ms(kSkipMs + 100);
    const auto at_once = base::Deadline::in_ms(kSkipMs - 100);
    int tries = 0;
    for (int i = 0; i < 6; ++i) tries += connects_to_one() ? 1 : 0;
    if (at_once.has_passed()) continue;  // another second began meanwhile
    CHECK(tries == 1);
    break;
  }
}

TEST_CASE("an address that neither accepts nor refuses leaves time for the others",
          "[fileserver]") {
  const Silent silent;
  const Listening other("127.0.0.3");
  auto addresses = standing_for({silent.address(), other.address()});
  CHECK(reached_by(addresses, 1000) == other.address().text());
}

TEST_CASE("when all addresses fail, the next connection resolves the name again", "[fileserver]") {
  Listening old("127.0.0.2");
  const Listening moved("127.0.0.3");
  Addresses now{old.address()};
  AuthAddresses addresses(kName, [&now](const net::HostPort&) { return now; });
  CHECK(reached_by(addresses) == old.address().text());

  old.stop();
  now = {moved.address()};
  CHECK(reached_by(addresses) == "unavailable");
  CHECK(reached_by(addresses) == moved.address().text());
}

TEST_CASE("while the name server is down, the known addresses are used", "[fileserver]") {
  Listening one("127.0.0.2");
  const Addresses known{one.address()};
  bool is_up = true;
  AuthAddresses addresses(kName, [&](const net::HostPort&) -> base::Result<Addresses> {
    if (is_up) return known;
    return base::Error{base::ErrorCode::kUnavailable, "no name server"};
  });
  CHECK(reached_by(addresses) == one.address().text());

  is_up = false;
  one.stop();
  CHECK(reached_by(addresses) == "unavailable");
  one.start_again();
  CHECK(reached_by(addresses) == one.address().text());
}

TEST_CASE("a name that cannot be resolved is unavailable", "[fileserver]") {
  AuthAddresses addresses(kName, [](const net::HostPort&) -> base::Result<Addresses> {
    return base::Error{base::ErrorCode::kUnavailable, "no such name"};
  });
  CHECK(reached_by(addresses) == "unavailable");
}

TEST_CASE("while one caller waits for a name server that hangs, the others use the known addresses",
          "[fileserver]") {
  Listening one("127.0.0.2");
  const Addresses known{one.address()};
  std::promise<void> may_answer;
  const std::shared_future<void> answer = may_answer.get_future().share();
  std::promise<void> is_asked;
  std::atomic<int> times_asked = 0;
  AuthAddresses addresses(kName, [&](const net::HostPort&) -> base::Result<Addresses> {
    const int number = ++times_asked;
    if (number == 2) is_asked.set_value();
    if (number >= 2) answer.wait_for(std::chrono::milliseconds(kLongWaitMs));
    return known;
  });
  CHECK(reached_by(addresses) == one.address().text());
  one.stop();
  CHECK(reached_by(addresses) == "unavailable");
  one.start_again();

  auto unlucky = std::async(std::launch::async, [&] { return reached_by(addresses); });
  is_asked.get_future().wait();
  for (int i = 0; i < 3; ++i) CHECK(reached_by(addresses) == one.address().text());
  may_answer.set_value();
  CHECK(unlucky.get() == one.address().text());
  CHECK(times_asked == 2);
}

TEST_CASE("a name server that hangs does not hold a caller longer than its deadline",
          "[fileserver]") {
  std::promise<void> may_answer;
  const std::shared_future<void> answer = may_answer.get_future().share();
  AuthAddresses addresses(kName, [answer](const net::HostPort&) -> base::Result<Addresses> {
    answer.wait();
    return base::Error{base::ErrorCode::kUnavailable, "no name server"};
  });
  CHECK(reached_by(addresses, 50) == "unavailable");
  CHECK(reached_by(addresses, 50) == "unavailable");
  may_answer.set_value();
}

TEST_CASE("a numeric address is resolved once", "[fileserver]") {
  Listening one("127.0.0.2");
  int times_asked = 0;
  AuthAddresses addresses({"127.0.0.2", one.address().port()}, [&](const net::HostPort& name) {
    ++times_asked;
    return net::resolve(name);
  });
  CHECK(reached_by(addresses) == one.address().text());
  one.stop();
  CHECK(reached_by(addresses) == "unavailable");
  one.start_again();
  CHECK(reached_by(addresses) == one.address().text());
  CHECK(times_asked == 1);
}

TEST_CASE("when no thread can be made, an address in numbers is connected to", "[fileserver]") {
  const Listening one("127.0.0.2");
  AuthAddresses addresses({"127.0.0.2", one.address().port()});
  const NoThreads no_threads;
  REQUIRE_THROWS(std::thread([] {}));
  CHECK(addresses.connect(kLongWaitMs, base::Deadline::in_ms(kLongWaitMs)).ok());
}

TEST_CASE("when no thread can be made to look a name up, the authserver is unavailable",
          "[fileserver]") {
  AuthAddresses addresses(kName, [](const net::HostPort&) { return Addresses{}; });
  const NoThreads no_threads;
  const auto fd = addresses.connect(kLongWaitMs, base::Deadline::in_ms(kLongWaitMs));
  REQUIRE(!fd.ok());
  CHECK(fd.error().code == base::ErrorCode::kUnavailable);
}
