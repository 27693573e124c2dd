#include "fileserver/files/turns.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/catch.h"

using fileserver::Turns;
using Turn = fileserver::Turns::Turn;

namespace {

void wait_for(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

// Takes the turn of a name, and has it until it is told to give it back.
class Taker {
 public:
  Taker(Turns& turns, const std::string& name)
      : thread_([this, &turns, name] {
          is_there = true;
          const Turn turn(turns, name);
          has_turn = true;
          wait_for(may_leave);
        }) {
    wait_for(is_there);
  }
  ~Taker() {
    may_leave = true;
    thread_.join();
  }

  std::atomic<bool> is_there = false;
  std::atomic<bool> has_turn = false;
  std::atomic<bool> may_leave = false;

 private:
  std::thread thread_;
};

}  // namespace

TEST_CASE("one at a time has the turn of a name", "[turns]") {
  constexpr int kTakers = 4;
  constexpr int kRounds = 2000;
  Turns turns;
  int changes = 0;  // what the sanitizer of threads looks at
  std::vector<std::thread> threads;
  for (int i = 0; i < kTakers; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const Turn turn(turns, "a");
        ++changes;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(changes == kTakers * kRounds);
}

TEST_CASE("whoever wants a name that is busy waits until it is given back", "[turns]") {
  Turns turns;
  auto owner = std::make_unique<Taker>(turns, "a");
  wait_for(owner->has_turn);
  const auto waiting = std::make_unique<Taker>(turns, "a");
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  CHECK_FALSE(waiting->has_turn);
  owner.reset();
  wait_for(waiting->has_turn);
}

TEST_CASE("each of many who wait for one name is told when its turn has come", "[turns]") {
  Turns turns;
  auto owner = std::make_unique<Taker>(turns, "a");
  wait_for(owner->has_turn);
  std::vector<std::unique_ptr<Taker>> waiting;
  for (int i = 0; i < 60; ++i) {
    waiting.push_back(std::make_unique<Taker>(turns, "a"));
    waiting.back()->may_leave = true;
  }
  owner.reset();
  for (const auto& one : waiting) wait_for(one->has_turn);
  CHECK(waiting.size() == 60);
}

// It looks by itself too, but only once in a second.
TEST_CASE("who waits for a turn is woken", "[turns]") {
  Turns turns;
  const auto start = std::chrono::steady_clock::now();
  auto owner = std::make_unique<Taker>(turns, "a");
  for (int i = 0; i < 40; ++i) {
    wait_for(owner->has_turn);
    auto next = std::make_unique<Taker>(turns, "a");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // until it waits
    owner = std::move(next);
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("no name waits for another one, though there are more names than slots", "[turns]") {
  Turns turns;
  std::vector<std::unique_ptr<Taker>> owners;
  for (int i = 0; i < 100; ++i) {
    owners.push_back(std::make_unique<Taker>(turns, std::to_string(i)));
    wait_for(owners.back()->has_turn);
  }
  CHECK(owners.size() == 100);
}

TEST_CASE("a turn may be given back by another thread", "[turns]") {
  Turns turns;
  std::optional<Turn> turn;
  std::thread([&] { turn.emplace(turns, "a"); }).join();
  turn.reset();
  turn.emplace(turns, "a");
  CHECK(turn.has_value());
}
