#include "authserver/passwords/hash_lanes.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
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
