#include "loadgen/loops/crowd/wheel.h"

#include <random>

#include "tests/catch.h"

using loadgen::crowd::Wheel;

namespace {

using Users = std::vector<std::uint32_t>;

constexpr std::int64_t kTurn = 1 << 14;

Users due_by(Wheel& wheel, std::int64_t tick) {
  Users due;
  wheel.take_due(tick, due);
  return due;
}

}  // namespace

TEST_CASE("a timer is due at its tick, once", "[loadgen]") {
  Wheel wheel(3);
  wheel.set(1, 5);
  wheel.set(2, 3);
  CHECK(wheel.next_tick() == 3);
  CHECK(due_by(wheel, 2).empty());
  CHECK(due_by(wheel, 5) == Users{2, 1});
  CHECK(due_by(wheel, 6).empty());
  CHECK(wheel.next_tick() == INT64_MAX);
}

TEST_CASE("a timer can be replaced and cleared", "[loadgen]") {
  Wheel wheel(3);
  for (const std::uint32_t user : {0U, 1U, 2U}) wheel.set(user, 7);
  wheel.set(1, 9);
  wheel.clear(0);
  CHECK(due_by(wheel, 8) == Users{2});
  CHECK(due_by(wheel, 9) == Users{1});
}

TEST_CASE("a timer of the past is due at once", "[loadgen]") {
  Wheel wheel(1);
  CHECK(due_by(wheel, 100).empty());
  wheel.set(0, 50);
  CHECK(due_by(wheel, 101) == Users{0});
}

TEST_CASE("a timer beyond a turn of the wheel waits for its turn", "[loadgen]") {
  Wheel wheel(2);
  wheel.set(0, 10);
  wheel.set(1, 10 + kTurn);
  CHECK(due_by(wheel, 10) == Users{0});
  CHECK(due_by(wheel, 9 + kTurn).empty());
  CHECK(due_by(wheel, 10 + kTurn) == Users{1});
}

TEST_CASE("after a pause of many turns all timers are due", "[loadgen]") {
  Wheel wheel(2);
  wheel.set(0, 10);
  wheel.set(1, 3 * kTurn);
  CHECK(due_by(wheel, 5 * kTurn).size() == 2);
}

TEST_CASE("no timer is late or early, whatever their order", "[loadgen]") {
  constexpr std::uint32_t kUsers = 200;
  std::minstd_rand random(7);
  Wheel wheel(kUsers);
  std::vector<std::int64_t> ticks(kUsers);
  for (std::uint32_t user = 0; user < kUsers; ++user)
    wheel.set(user, ticks[user] = 1 + static_cast<std::int64_t>(random() % (3 * kTurn)));
  std::size_t fired = 0;
  while (fired < kUsers) {
    const std::int64_t now = wheel.next_tick();
    REQUIRE(now != INT64_MAX);
    for (const std::uint32_t user : due_by(wheel, now)) {
      CHECK(ticks[user] == now);
      ++fired;
    }
  }
}
