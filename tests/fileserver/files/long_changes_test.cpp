#include "fileserver/files/long_changes.h"

#include <memory>
#include <string_view>
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
