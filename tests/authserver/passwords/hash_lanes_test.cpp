#include "authserver/passwords/hash_lanes.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "serve/shared_memory.h"
#include "tests/catch.h"

using authserver::HashLanes;

namespace {

std::int64_t soon() { return base::now_ns() + 20 * base::kNsPerMs; }
std::int64_t later() { return base::now_ns() + 60 * base::kNsPerS; }

}  // namespace

TEST_CASE("no more hashes are computed at once than there are lanes", "[passwords]") {
  const serve::Shared<HashLanes> lanes(std::in_place, 2U);
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const HashLanes::Turn turn(*lanes, t, later());
        if (!turn.is_granted()) continue;
        const int mine = ++now;
        for (int seen = most; seen < mine && !most.compare_exchange_weak(seen, mine);) {
        }
        std::this_thread::yield();
        --now;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(most >= 1);
  CHECK(most <= 2);
}

TEST_CASE("a turn is not granted if its deadline passes first", "[passwords]") {
  const serve::Shared<HashLanes> lanes(std::in_place, 1U);
  const HashLanes::Turn first(*lanes, 1, later());
  REQUIRE(first.is_granted());
  std::thread([&] { CHECK_FALSE(HashLanes::Turn(*lanes, 2, soon()).is_granted()); }).join();
}

TEST_CASE("hashes of one credential are computed one after another, even if lanes are free",
          "[passwords]") {
  const serve::Shared<HashLanes> lanes(std::in_place, 4U);
  const HashLanes::Turn first(*lanes, 7, later());
  std::thread([&] {
    CHECK_FALSE(HashLanes::Turn(*lanes, 7, soon()).is_granted());
    CHECK(HashLanes::Turn(*lanes, 8, soon()).is_granted());
  }).join();
}

TEST_CASE("lanes are granted in the order of arrival", "[passwords]") {
  constexpr std::size_t kWaiters = 8;
  const serve::Shared<HashLanes> lanes(std::in_place, 1U);
  std::vector<std::size_t> order;  // written by whoever has the lane
  std::optional<HashLanes::Turn> held;
  held.emplace(*lanes, 0, later());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kWaiters; ++t) {
    threads.emplace_back([&, t] {
      const HashLanes::Turn turn(*lanes, t, later());
      order.push_back(t);
    });
    while (lanes->waiting() <= t) std::this_thread::yield();
  }
  held.reset();
  {
    const HashLanes::Turn last(*lanes, 0, later());  // comes after all who wait
    order.push_back(kWaiters);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(order == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("a request whose credential is being computed lets those behind it pass", "[passwords]") {
  const serve::Shared<HashLanes> lanes(std::in_place, 2U);
  std::optional<HashLanes::Turn> first;
  first.emplace(*lanes, 7, later());
  std::atomic<bool> is_second_granted = false;
  std::thread second([&] { is_second_granted = HashLanes::Turn(*lanes, 7, later()).is_granted(); });
  while (lanes->waiting() == 0) std::this_thread::yield();
  CHECK(HashLanes::Turn(*lanes, 8, later()).is_granted());
  CHECK(HashLanes::Turn(*lanes, {}, later()).is_granted());
  CHECK(lanes->waiting() == 1);
  first.reset();
  second.join();
  CHECK(is_second_granted);
}

TEST_CASE("a request that gave up is not waited for", "[passwords]") {
  const serve::Shared<HashLanes> lanes(std::in_place, 1U);
  std::optional<HashLanes::Turn> first;
  first.emplace(*lanes, 1, later());
  std::thread([&] { CHECK_FALSE(HashLanes::Turn(*lanes, 2, soon()).is_granted()); }).join();
  CHECK(lanes->waiting() == 0);
  first.reset();
  CHECK(lanes->computing() == 0);
  CHECK(HashLanes::Turn(*lanes, 3, later()).is_granted());
}

TEST_CASE("the turn of a process that died is free again", "[passwords]") {
  const serve::Shared<HashLanes> lanes(std::in_place, 1U);
  const pid_t child = ::fork();
  if (child == 0) {
    const HashLanes::Turn turn(*lanes, 1, later());
    ::_exit(turn.is_granted() ? 0 : 1);  // without releasing it
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WEXITSTATUS(status) == 0);
  CHECK(HashLanes::Turn(*lanes, 1, later()).is_granted());
}

TEST_CASE("who waits gets the lane of a process that is killed", "[passwords]") {
  const serve::Shared<HashLanes> lanes(std::in_place, 1U);
  const pid_t child = ::fork();
  if (child == 0) {
    const HashLanes::Turn turn(*lanes, 1, later());
    for (;;) ::pause();
  }
  while (lanes->computing() == 0) std::this_thread::yield();
  std::atomic<bool> is_granted = false;
  std::thread waiter([&] { is_granted = HashLanes::Turn(*lanes, 2, later()).is_granted(); });
  while (lanes->waiting() == 0) std::this_thread::yield();
  ::kill(child, SIGKILL);
  waiter.join();
  CHECK(is_granted);
  CHECK(::waitpid(child, nullptr, 0) == child);
}

TEST_CASE("a process that is killed while it waits keeps no place in the queue", "[passwords]") {
  const serve::Shared<HashLanes> lanes(std::in_place, 1U);
  std::optional<HashLanes::Turn> held;
  held.emplace(*lanes, 1, later());
  const pid_t child = ::fork();
  if (child == 0) {
    const HashLanes::Turn turn(*lanes, 2, later());
    ::_exit(1);
  }
  while (lanes->waiting() == 0) std::this_thread::yield();
  ::kill(child, SIGKILL);
  CHECK(::waitpid(child, nullptr, 0) == child);
  held.reset();
  CHECK(HashLanes::Turn(*lanes, 3, later()).is_granted());
  CHECK(lanes->waiting() == 0);
}

TEST_CASE("the lanes are whole after processes were killed at any moment", "[passwords]") {
  constexpr std::uint64_t kRounds = 60;
  const serve::Shared<HashLanes> lanes(std::in_place, 2U);
  const serve::Shared<std::atomic<std::uint64_t>> turns;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    std::array<pid_t, 3> children{};
    for (pid_t& child : children) {
      child = ::fork();
      if (child != 0) continue;
      for (;;) {
        const HashLanes::Turn turn(*lanes, {}, later());
        ++*turns;
      }
    }
    const std::uint64_t until = *turns + 7 * round;  // so they are killed at different moments
    while (*turns < until) std::this_thread::yield();
    for (const pid_t child : children) ::kill(child, SIGKILL);
    for (const pid_t child : children) REQUIRE(::waitpid(child, nullptr, 0) == child);
  }
  const HashLanes::Turn first(*lanes, 1, later());
  const HashLanes::Turn second(*lanes, 2, later());
  CHECK(first.is_granted());
  CHECK(second.is_granted());
  CHECK(lanes->computing() == 2);
  CHECK(lanes->waiting() == 0);
  std::thread([&] { CHECK_FALSE(HashLanes::Turn(*lanes, 3, soon()).is_granted()); }).join();
}
