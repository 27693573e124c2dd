#include "fileserver/files/long_changes.h"

#include <latch>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "tests/catch.h"

using fileserver::LongChanges;

namespace {

using Places = std::vector<std::unique_ptr<LongChanges::Place>>;

// Asks as many times, and does not wait. Returns how many it has got.
std::size_t taken_by(std::string_view user, std::size_t times, LongChanges& changes,
                     Places& places) {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < times; ++i) {
    auto place = std::make_unique<LongChanges::Place>(changes, user, [] { return false; });
    if (!place->is_taken()) continue;
    ++taken;
    places.push_back(std::move(place));
  }
  return taken;
}

// Waits for a place until it is let go on, and gives it back.
class Waiter {
 public:
  Waiter(LongChanges& changes, std::string_view user)
      : thread_([this, &changes, user] {
          const LongChanges::Place place(changes, user, [this] {
            if (!waits_.try_wait()) waits_.count_down();
            goes_on_.wait();
            return true;
          });
        }) {
    waits_.wait();
  }
  ~Waiter() { go_on(); }

  void go_on() {
    if (!goes_on_.try_wait()) goes_on_.count_down();
  }

 private:
  std::latch waits_{1};
  std::latch goes_on_{1};
  std::jthread thread_;
};

}  // namespace

TEST_CASE("one user has half of the places of long changes", "[dav]") {
  LongChanges changes(600'000);
  Places places;
  CHECK(taken_by("amy", 6, changes, places) == LongChanges::kMostOfUser);
  CHECK(taken_by("ben", 6, changes, places) == LongChanges::kMost - LongChanges::kMostOfUser);
  CHECK(taken_by("cid", 1, changes, places) == 0);
  places.pop_back();
  CHECK(taken_by("cid", 1, changes, places) == 1);
}

TEST_CASE("a long change that hangs keeps no other one waiting", "[dav]") {
  LongChanges changes(1);
  Places places;
  REQUIRE(taken_by("amy", 4, changes, places) == 4);
  const auto deadline = base::Deadline::in_ms(30'000);
  const LongChanges::Place other(changes, "amy", [&] { return !deadline.has_passed(); });
  CHECK(other.is_taken());
}

TEST_CASE("long changes begin in the order in which they came", "[dav]") {
  LongChanges changes(600'000);
  Places places;
  REQUIRE(taken_by("amy", 4, changes, places) == 4);
  REQUIRE(taken_by("ben", 4, changes, places) == 4);
  Waiter first(changes, "cid");
  places.pop_back();
  CHECK(taken_by("dan", 1, changes, places) == 0);
  places.clear();
}

TEST_CASE("no long change waits for a user who has all places of one", "[dav]") {
  LongChanges changes(600'000);
  Places places;
  REQUIRE(taken_by("amy", 4, changes, places) == 4);
  Waiter first(changes, "amy");
  CHECK(taken_by("dan", 1, changes, places) == 1);
  places.clear();
}
