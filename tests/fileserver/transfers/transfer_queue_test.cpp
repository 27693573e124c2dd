#include "fileserver/transfers/transfer_queue.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"

using fileserver::Transfer;
using fileserver::TransferQueue;
using Pushed = fileserver::TransferRing::Pushed;

namespace {

std::vector<std::string> take_all(TransferQueue& queue) {
  std::vector<std::string> names;
  while (queue.take_one([&](const Transfer& one) { names.emplace_back(one.name); })) {
  }
  return names;
}

}  // namespace

TEST_CASE("what is pushed is taken, with a copy of its name", "[transfers]") {
  TransferQueue queue(100);
  std::string name = "a.txt";
  CHECK(queue.push({.name = name, .asked_ns = 7}) != Pushed::kFull);
  name = "overwritten";
  std::int64_t asked_ns = 0;
  CHECK(queue.take_one([&](const Transfer& one) {
    name = one.name;
    asked_ns = one.asked_ns;
  }));
  CHECK(name == "a.txt");
  CHECK(asked_ns == 7);
  CHECK_FALSE(queue.take_one([](const Transfer&) {}));
}

TEST_CASE("what is pushed is taken with copies of the other name and of the user", "[transfers]") {
  TransferQueue queue(100);
  std::string to = "b.txt";
  std::string user = "amy";
  CHECK(queue.push({.name = "a", .to = to, .user = user, .method = "MOVE", .status = 201}) !=
        Pushed::kFull);
  to = user = "overwritten";
  CHECK(queue.take_one([](const Transfer& one) {
    CHECK(one.to == "b.txt");
    CHECK(one.user == "amy");
    CHECK(one.method == "MOVE");
    CHECK(one.status == 201);
  }));
}

TEST_CASE("a queue has the room that was asked for, and a full one takes nothing", "[transfers]") {
  for (const std::size_t least : {1U, 32U, 33U, 1000U}) {
    TransferQueue queue(least);
    CAPTURE(least);
    CHECK(queue.capacity() >= least);
    CHECK(queue.capacity() < 2 * least + 32);
    for (int round = 0; round < 3; ++round) {
      std::size_t pushed = 0;
      while (queue.push({.name = std::to_string(pushed)}) != Pushed::kFull) ++pushed;
      CHECK(pushed == queue.capacity());
      const auto taken = take_all(queue);
      CHECK(std::set<std::string>(taken.begin(), taken.end()).size() == pushed);
    }
  }
}

TEST_CASE("a ring is taken in order, and says when a quarter was filled", "[transfers]") {
  fileserver::TransferRing ring(8);
  std::vector<Pushed> answers;
  for (int i = 0; i < 9; ++i) answers.push_back(ring.push({.name = std::to_string(i)}));
  const auto yes = Pushed::kYes, quarter = Pushed::kYesAndQuarter;
  CHECK(answers ==
        std::vector<Pushed>{quarter, yes, quarter, yes, quarter, yes, quarter, yes, Pushed::kFull});
  std::string names;
  while (ring.take_one([&](const Transfer& one) { names += one.name; })) {
  }
  CHECK(names == "01234567");
}

TEST_CASE("a transfer that cannot be handled is forgotten", "[transfers]") {
  fileserver::TransferRing ring(4);
  for (int i = 0; i < 4; ++i) ring.push({.name = "x"});
  CHECK_THROWS(ring.take_one([](const Transfer&) { throw std::bad_alloc(); }));
  CHECK(ring.push({.name = "y"}) != Pushed::kFull);
}

TEST_CASE("of what many threads push, each transfer is taken once or refused", "[transfers]") {
  constexpr std::size_t kThreads = 4, kEach = 20'000;
  TransferQueue queue(64);
  std::atomic<std::size_t> refused = 0, running = kThreads;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kEach; ++i) {
        const std::string name = std::to_string(t) + "/" + std::to_string(i);
        if (queue.push({.name = name}) == Pushed::kFull) ++refused;
      }
      --running;
    });
  }
  std::vector<std::string> taken;
  while (running > 0) {
    for (std::string& name : take_all(queue)) taken.push_back(std::move(name));
  }
  for (std::thread& thread : threads) thread.join();
  for (std::string& name : take_all(queue)) taken.push_back(std::move(name));
  CHECK(taken.size() + refused == kThreads * kEach);
  CHECK(std::set<std::string>(taken.begin(), taken.end()).size() == taken.size());
}
