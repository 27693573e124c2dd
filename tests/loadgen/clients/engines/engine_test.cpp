#include "loadgen/clients/engines/engine.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <thread>

#include "base/clock.h"
#include "net/fd.h"
#include "tests/catch.h"

using loadgen::Engine;
using loadgen::open_engine;
using loadgen::crowd::EngineKind;

namespace {

using Users = std::vector<std::uint32_t>;

constexpr EngineKind kAll[] = {EngineKind::kEpoll, EngineKind::kPoll, EngineKind::kSigio,
                               EngineKind::kIoUring};

struct Pair {
  net::Fd here;
  net::Fd there;

  Pair() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    here = net::Fd(ends[0]);
    there = net::Fd(ends[1]);
  }
  void send() const { REQUIRE(::send(there.get(), "x", 1, 0) == 1); }
  void take() const {
    char byte = 0;
    REQUIRE(::recv(here.get(), &byte, 1, 0) == 1);
  }
};

// Null where the system refuses the engine, as in a container that forbids io_uring.
std::unique_ptr<Engine> opened(EngineKind kind, std::uint32_t users) {
  auto engine = open_engine(kind, users);
  return engine ? std::move(*engine) : nullptr;
}

// Waits until somebody is ready, at most ten seconds.
Users next_of(Engine& engine) {
  Users ready;
  for (int turn = 0; turn < 100 && ready.empty(); ++turn)
    REQUIRE(engine.wait(100 * base::kNsPerMs, ready).ok());
  return ready;
}

bool is_quiet(Engine& engine) {
  Users ready;
  for (int turn = 0; turn < 3; ++turn) REQUIRE(engine.wait(5 * base::kNsPerMs, ready).ok());
  return ready.empty();
}

// The signals of kSigio go to one thread, so each test has its own.
template <typename Test>
void with_each_engine(std::uint32_t users, Test test) {
  for (const EngineKind kind : kAll) {
    INFO(loadgen::crowd::word_of(kind));
    std::thread([&] {
      if (const auto engine = opened(kind, users)) test(*engine);
    }).join();
  }
}

}  // namespace

TEST_CASE("an engine reports a user once for each time that it was armed", "[loadgen]") {
  with_each_engine(2, [](Engine& engine) {
    const Pair one;
    const Pair other;
    REQUIRE(engine.watch(0, one.here.get()).ok());
    REQUIRE(engine.watch(1, other.here.get()).ok());
    REQUIRE(engine.arm(1, POLLIN).ok());
    CHECK(is_quiet(engine));
    other.send();
    CHECK(next_of(engine) == Users{1});
    CHECK(is_quiet(engine));
    other.take();
    REQUIRE(engine.arm(1, POLLIN).ok());
    other.send();
    CHECK(next_of(engine) == Users{1});
  });
}

TEST_CASE("bytes for a user that is not armed wake nobody", "[loadgen]") {
  with_each_engine(1, [](Engine& engine) {
    const Pair one;
    REQUIRE(engine.watch(0, one.here.get()).ok());
    one.send();
    CHECK(is_quiet(engine));
  });
}

TEST_CASE("a connection that is there already is reported", "[loadgen]") {
  with_each_engine(1, [](Engine& engine) {
    const Pair one;
    REQUIRE(engine.watch(0, one.here.get()).ok());
    REQUIRE(engine.arm(0, POLLOUT).ok());
    CHECK(next_of(engine) == Users{0});
  });
}

TEST_CASE("the end of a connection is reported", "[loadgen]") {
  with_each_engine(1, [](Engine& engine) {
    Pair one;
    REQUIRE(engine.watch(0, one.here.get()).ok());
    REQUIRE(engine.arm(0, POLLIN).ok());
    { const net::Fd closed = std::move(one.there); }
    CHECK(next_of(engine) == Users{0});
  });
}

TEST_CASE("a descriptor can be used again by another user", "[loadgen]") {
  with_each_engine(2, [](Engine& engine) {
    const Pair one;
    REQUIRE(engine.watch(0, one.here.get()).ok());
    engine.forget(0);
    const Pair other;
    REQUIRE(engine.watch(1, other.here.get()).ok());
    REQUIRE(engine.arm(1, POLLIN).ok());
    other.send();
    CHECK(next_of(engine) == Users{1});
  });
}

// More than io_uring hands over at once.
TEST_CASE("no user of a large crowd is forgotten", "[loadgen]") {
  constexpr std::uint32_t kUsers = 1500;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < 2 * kUsers + 100) return;
  with_each_engine(kUsers, [&](Engine& engine) {
    const std::vector<Pair> pairs(kUsers);
    for (std::uint32_t user = 0; user < kUsers; ++user) {
      REQUIRE(engine.watch(user, pairs[user].here.get()).ok());
      REQUIRE(engine.arm(user, POLLIN).ok());
    }
    for (const Pair& pair : pairs) pair.send();
    std::vector<int> reported(kUsers);
    std::size_t left = kUsers;
    for (int turn = 0; turn < 200 && left > 0; ++turn) {
      Users ready;
      REQUIRE(engine.wait(100 * base::kNsPerMs, ready).ok());
      for (const std::uint32_t user : ready)
        if (reported[user]++ == 0) --left;
    }
    CHECK(left == 0);
  });
}

TEST_CASE("when the queue of signals is full, poll() finds who is ready", "[loadgen]") {
  constexpr std::uint32_t kUsers = 40;
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_SIGPENDING, &before) == 0);
  std::thread([&] {
    const auto engine = opened(EngineKind::kSigio, kUsers);
    REQUIRE(engine);
    const std::vector<Pair> pairs(kUsers);
    for (std::uint32_t user = 0; user < kUsers; ++user) {
      REQUIRE(engine->watch(user, pairs[user].here.get()).ok());
      REQUIRE(engine->arm(user, POLLIN).ok());
    }
    REQUIRE(loadgen::limit_signal_queue(2).ok());
    for (const Pair& pair : pairs) pair.send();
    std::size_t reported = 0;
    while (reported < kUsers) {
      const auto found = next_of(*engine);
      if (found.empty()) break;  // nobody else is reported
      reported += found.size();
    }
    CHECK(reported == kUsers);
    CHECK(engine->overflows() > 0);
  }).join();
  ::setrlimit(RLIMIT_SIGPENDING, &before);
}

TEST_CASE("a connection whose changes are watched is reported with each of them", "[loadgen]") {
  const auto engine = opened(EngineKind::kEpoll, 1);
  REQUIRE(engine);
  const Pair one;
  REQUIRE(engine->watch_changes(0, one.here.get()).ok());
  CHECK(next_of(*engine) == Users{0});  // there is room to send
  CHECK(is_quiet(*engine));
  one.send();
  CHECK(next_of(*engine) == Users{0});
  CHECK(is_quiet(*engine));  // nobody has received, but nothing has changed
  one.send();
  CHECK(next_of(*engine) == Users{0});
}

TEST_CASE("an engine waits for a part of a millisecond", "[loadgen]") {
  with_each_engine(1, [](Engine& engine) {
    Users ready;
    const std::int64_t begun_ns = base::now_ns();
    REQUIRE(engine.wait(300'000, ready).ok());
    CHECK(base::now_ns() - begun_ns >= 300'000);
    CHECK(ready.empty());
  });
}
