#include "authserver/passwords/hash_lanes.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

TEST_CASE("further requests are refused when the queue is full", "[passwords]") {
  const serve::Shared<HashLanes> lanes(std::in_place, 2U);
  std::optional<HashLanes::Turn> held;
  std::optional<HashLanes::Turn> other;
  held.emplace(*lanes, 7, later());
  other.emplace(*lanes, 8, later());
  std::atomic<bool> is_granted = false;
  std::thread first([&] { is_granted = HashLanes::Turn(*lanes, 7, later()).is_granted(); });
  while (lanes->waiting() == 0) std::this_thread::yield();
  // Their deadline is over, but their places are behind one that waits.
  for (std::size_t i = 1; i < HashLanes::kMostRequests; ++i) {
    const HashLanes::Turn late(*lanes, i, 0);
    if (late.is_granted()) FAIL("a third lane");
  }
  other.reset();
  CHECK_FALSE(HashLanes::Turn(*lanes, 9, later()).is_granted());  // although a lane is free
  held.reset();
  first.join();
  CHECK(is_granted);
  CHECK(HashLanes::Turn(*lanes, 9, later()).is_granted());
}

namespace {

char* to_protect = nullptr;  // a page, for the signal handler
std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

// Where in HashLanes the request of this ticket has its state: right behind the mutex of its owner.
// The requests are at the end of HashLanes.
std::size_t state_at(std::size_t ticket) {
  constexpr std::size_t kRequestBytes = sizeof(HashLanes) / HashLanes::kMostRequests;
  constexpr std::size_t kFirst = sizeof(HashLanes) - kRequestBytes * HashLanes::kMostRequests;
  return kFirst + ticket * kRequestBytes + sizeof(base::ProcessMutex);
}

// Whether a page begins between the mutex and the state. So the state can be protected, while the
// kernel can still release the mutex when its owner dies.
bool is_split(std::size_t ticket) { return state_at(ticket) % page_bytes() == 0; }

bool has_ended(pid_t child) {
  siginfo_t ended{};
  return ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == child;
}

// A new process waits for a lane, and dies when it changes its state after SIGUSR1. Returns whether
// it did.
bool dies_with_the_mutex(HashLanes& lanes, std::size_t ticket, std::int64_t wait_ns) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    to_protect = reinterpret_cast<char*>(&lanes) + state_at(ticket);
    ::signal(SIGSEGV, SIG_DFL);
    ::signal(SIGUSR1, [](int) { ::mprotect(to_protect, page_bytes(), PROT_READ); });
    const HashLanes::Turn turn(lanes, 2, base::now_ns() + wait_ns);
    ::_exit(0);
  }
  while (lanes.waiting() == 0 && !has_ended(child)) std::this_thread::yield();
  ::kill(child, SIGUSR1);
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
         WTERMSIG(status) == SIGSEGV;
}

}  // namespace

TEST_CASE("what a process was changing when it died is repaired", "[passwords]") {
  const serve::Shared<HashLanes> lanes(std::in_place, 1U);
  std::optional<HashLanes::Turn> held;
  held.emplace(*lanes, 1, later());
  // It leaves the queue at its deadline. The count of those who wait is changed by then, its state
  // is not. It has to get the signal before.
  std::int64_t wait_ns = 50 * base::kNsPerMs;
  bool has_died = false;
  for (std::size_t ticket = 1; ticket < HashLanes::kMostRequests && !has_died; ++ticket) {
    if (is_split(ticket)) {
      has_died = dies_with_the_mutex(*lanes, ticket, wait_ns);
      wait_ns *= 2;
    } else {
      REQUIRE_FALSE(HashLanes::Turn(*lanes, 2, 0).is_granted());  // takes the ticket
    }
  }
  REQUIRE(has_died);
  held.reset();
  CHECK(lanes->computing() == 0);
  CHECK(lanes->waiting() == 0);
  CHECK(HashLanes::Turn(*lanes, 3, later()).is_granted());
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
