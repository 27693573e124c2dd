#include "fileserver/rights/locks.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tests/catch.h"

using fileserver::Lock;
using fileserver::LockedChange;
using fileserver::Locks;

namespace {

constexpr auto kZero = Lock::Depth::kZero;
constexpr auto kInfinity = Lock::Depth::kInfinity;
constexpr auto kShared = Lock::Scope::kShared;
constexpr auto kExclusive = Lock::Scope::kExclusive;

Lock wanted(std::string name, Lock::Depth depth = kInfinity, Lock::Scope scope = kExclusive,
            std::string user = "amy") {
  Lock lock;
  lock.name = std::move(name);
  lock.depth = depth;
  lock.scope = scope;
  lock.user = std::move(user);
  lock.made_ns = 10;
  lock.ends_ns = 100;
  return lock;
}

// Empty: it was not made.
std::string added(Locks& locks, Lock lock) {
  const auto result = locks.add(std::move(lock));
  const Lock* const made = std::get_if<Lock>(&result);
  return made == nullptr ? std::string() : made->token;
}

bool may(const Locks& locks, LockedChange change, const std::vector<std::string>& tokens = {},
         std::string_view user = "amy", std::int64_t now_ns = 50) {
  return !locks.in_the_way_of(change, user, tokens, now_ns);
}

constexpr LockedChange whole(std::string_view name) { return {name, true, true}; }

}  // namespace

TEST_CASE("a token is a URN that comes once", "[locks]") {
  Locks locks;
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) {
    const std::string token = added(locks, wanted(std::to_string(i)));
    REQUIRE(token.size() == 9 + 36);
    CHECK(token.starts_with("urn:uuid:"));
    CHECK(token[9 + 14] == '4');
    tokens.insert(token);
  }
  CHECK(tokens.size() == 100);
}

TEST_CASE("an exclusive lock has nothing beside, above or below it", "[locks]") {
  Locks locks;
  REQUIRE(!added(locks, wanted("a/b")).empty());
  for (const auto scope : {kShared, kExclusive}) {
    CHECK(added(locks, wanted("a/b", kZero, scope)).empty());
    CHECK(added(locks, wanted("a/b/c", kZero, scope)).empty());
    CHECK(added(locks, wanted("a", kInfinity, scope)).empty());
    CHECK(added(locks, wanted("", kInfinity, scope)).empty());
    CHECK(added(locks, wanted("a/b", kZero, scope, "bob")).empty());
  }
  const auto result = locks.add(wanted("", kInfinity));
  REQUIRE(std::get_if<Locks::Conflict>(&result) != nullptr);
  CHECK(std::get<Locks::Conflict>(result).name == "a/b");
  CHECK(!added(locks, wanted("a", kZero)).empty());
  CHECK(!added(locks, wanted("a/bc")).empty());
  CHECK(!added(locks, wanted("a/b-c")).empty());  // sorts before "a/b/"
  CHECK(!added(locks, wanted("", kZero)).empty());
}

TEST_CASE("shared locks stand beside each other", "[locks]") {
  Locks locks;
  const std::string amy = added(locks, wanted("a", kInfinity, kShared));
  const std::string bob = added(locks, wanted("a/b", kZero, kShared, "bob"));
  REQUIRE(!amy.empty());
  REQUIRE(!bob.empty());
  CHECK(added(locks, wanted("a/b")).empty());
  CHECK(added(locks, wanted("a")).empty());
  CHECK(locks.covering("a/b", 50).size() == 2);
  CHECK(locks.covering("a", 50).size() == 1);
  // The token of one of them is enough, if it is the user's own.
  CHECK(may(locks, {"a/b"}, {amy}));
  CHECK(may(locks, {"a/b"}, {bob}, "bob"));
  CHECK(!may(locks, {"a/b"}, {bob}));
  CHECK(!may(locks, {"a/c"}, {bob}, "bob"));
}

TEST_CASE("a change needs the token of a lock on the name or above it", "[locks]") {
  Locks locks;
  const std::string token = added(locks, wanted("a/b"));
  for (const char* const name : {"a/b", "a/b/c", "a/b/c/d"}) {
    INFO(name);
    CHECK(!may(locks, {name}));
    CHECK(!may(locks, {name}, {"urn:uuid:other"}));
    CHECK(!may(locks, {name}, {token}, "bob"));
    CHECK(may(locks, {name}, {"urn:uuid:other", token}));
  }
  for (const char* const name : {"", "a", "a/bc", "a/b-c", "b"}) {
    INFO(name);
    CHECK(may(locks, {name}));
  }
}

TEST_CASE("a lock of a folder protects which names it has", "[locks]") {
  Locks locks;
  const std::string token = added(locks, wanted("a", kZero));
  CHECK(may(locks, {"a/b"}));
  CHECK(!may(locks, {.name = "a/b", .is_of_members = true}));
  CHECK(may(locks, {.name = "a/b", .is_of_members = true}, {token}));
  CHECK(may(locks, {.name = "a/b/c", .is_of_members = true}));
  CHECK(may(locks, {.name = "b", .is_of_members = true}));
  REQUIRE(!added(locks, wanted("", kZero)).empty());
  CHECK(!may(locks, {.name = "b", .is_of_members = true}));
}

TEST_CASE("a change of a whole folder needs the tokens of all below it", "[locks]") {
  Locks locks;
  const std::string one = added(locks, wanted("a/b"));
  const std::string two = added(locks, wanted("a/c/d", kZero));
  CHECK(may(locks, {"a"}));
  CHECK(!may(locks, whole("a")));
  CHECK(!may(locks, whole("a"), {one}));
  CHECK(!may(locks, whole("a"), {two}));
  CHECK(may(locks, whole("a"), {one, two}));
  CHECK(!may(locks, whole(""), {one}));
  CHECK(may(locks, whole("a/c/d/e/f")));
  CHECK(!may(locks, whole("a/c"), {one}));
  const auto conflict = locks.in_the_way_of(whole("a"), "amy", std::vector{one}, 50);
  REQUIRE(conflict);
  CHECK(conflict->name == "a/c/d");
}

TEST_CASE("a lock ends at its time, and a refresh moves that", "[locks]") {
  Locks locks;
  const std::string token = added(locks, wanted("a"));
  CHECK(!may(locks, {"a"}, {}, "amy", 99));
  CHECK(may(locks, {"a"}, {}, "amy", 100));
  CHECK(locks.has(token, "a/b", 99));
  CHECK(!locks.has(token, "a/b", 100));
  CHECK(!locks.has(token, "b", 99));
  CHECK(!locks.refresh(token, "a", "bob", 50, 200));
  CHECK(!locks.refresh(token, "b", "amy", 50, 200));
  CHECK(!locks.refresh("urn:uuid:other", "a", "amy", 50, 200));
  const auto refreshed = locks.refresh(token, "a/b", "amy", 99, 200);
  REQUIRE(refreshed);
  CHECK(refreshed->ends_ns == 200);
  CHECK(!may(locks, {"a"}, {}, "amy", 199));
  CHECK(!locks.is_empty(199));
  CHECK(!locks.refresh(token, "a", "amy", 200, 300));
  CHECK(locks.is_empty(200));
}

TEST_CASE("a lock that has ended is not in the way of the next one", "[locks]") {
  Locks locks({.of_user = 1, .in_all = 1});
  REQUIRE(!added(locks, wanted("a")).empty());
  Lock next = wanted("a");
  next.made_ns = 100;
  next.ends_ns = 200;
  CHECK(!added(locks, next).empty());
}

TEST_CASE("a lock that a refresh lets end earlier does not count from then on", "[locks]") {
  Locks locks({.of_user = 1, .in_all = 1});
  const std::string token = added(locks, wanted("a"));
  REQUIRE(locks.refresh(token, "a", "amy", 20, 60));
  Lock next = wanted("b");
  next.made_ns = 59;
  CHECK(added(locks, next).empty());
  next.made_ns = 60;
  CHECK(!added(locks, next).empty());
}

TEST_CASE("only its user ends a lock", "[locks]") {
  using Unlocked = Locks::Unlocked;
  Locks locks;
  const std::string token = added(locks, wanted("a"));
  CHECK(locks.remove("urn:uuid:other", "a", "amy", 50) == Unlocked::kUnknown);
  CHECK(locks.remove(token, "b", "amy", 50) == Unlocked::kUnknown);
  CHECK(locks.remove(token, "a", "bob", 50) == Unlocked::kOfOtherUser);
  CHECK(locks.remove(token, "a", "amy", 100) == Unlocked::kUnknown);
  CHECK(locks.remove(token, "a/b", "amy", 50) == Unlocked::kDone);
  CHECK(locks.remove(token, "a", "amy", 50) == Unlocked::kUnknown);
  CHECK(locks.is_empty(50));
}

TEST_CASE("a shared lock that is ended leaves the others", "[locks]") {
  Locks locks;
  const std::string amy = added(locks, wanted("a", kZero, kShared));
  const std::string bob = added(locks, wanted("a", kZero, kShared, "bob"));
  REQUIRE(locks.remove(amy, "a", "amy", 50) == Locks::Unlocked::kDone);
  CHECK(!locks.has(amy, "a", 50));
  CHECK(locks.has(bob, "a", 50));
}

TEST_CASE("the locks of a name that is gone go with it", "[locks]") {
  Locks locks;
  for (const char* const name : {"a/b", "a/b/c", "a/bc", "a/b-c", "b"})
    REQUIRE(!added(locks, wanted(name, kZero)).empty());
  locks.forget("a/b", 10);  // before any was made
  CHECK(locks.covering("a/b", 50).size() == 1);
  locks.forget("a/b", 11);
  CHECK(locks.covering("a/b", 50).empty());
  CHECK(locks.covering("a/b/c", 50).empty());
  for (const char* const name : {"a/bc", "a/b-c", "b"}) CHECK(locks.covering(name, 50).size() == 1);
}

TEST_CASE("what is replaced takes its locks along, but for that of a file", "[locks]") {
  Locks locks;
  Lock folder = wanted("a", kZero);
  folder.is_folder = true;
  REQUIRE(!added(locks, folder).empty());
  for (const char* const name : {"a/b", "a/b/c", "ab", "b", "b/x"})
    REQUIRE(!added(locks, wanted(name, kZero)).empty());
  locks.forget_replaced("a", 10);  // before any was made
  CHECK(locks.covering("a/b", 50).size() == 1);
  for (const char* const name : {"a", "b"}) locks.forget_replaced(name, 11);
  for (const char* const name : {"a", "a/b", "a/b/c", "b/x"})
    CHECK(locks.covering(name, 50).empty());
  for (const char* const name : {"ab", "b"}) CHECK(locks.covering(name, 50).size() == 1);
}

TEST_CASE("locks of a user and in all are bounded", "[locks]") {
  Locks locks({.of_user = 2, .in_all = 3});
  const std::string first = added(locks, wanted("a"));
  REQUIRE(!added(locks, wanted("b")).empty());
  const auto refused = locks.add(wanted("c"));
  CHECK(std::get_if<Locks::TooMany>(&refused) != nullptr);
  CHECK(!added(locks, wanted("c", kZero, kExclusive, "bob")).empty());
  CHECK(added(locks, wanted("d", kZero, kExclusive, "bob")).empty());
  REQUIRE(locks.remove(first, "a", "amy", 50) == Locks::Unlocked::kDone);
  CHECK(!added(locks, wanted("d", kZero, kExclusive, "bob")).empty());
  CHECK(added(locks, wanted("e")).empty());
  locks.forget("d", 11);
  CHECK(!added(locks, wanted("e")).empty());
}

TEST_CASE("all locks that have not ended are read, some names at a time", "[locks]") {
  Locks locks;
  constexpr int kNames = 100;
  for (int i = 0; i < kNames; ++i) {
    Lock lock = wanted(std::to_string(i), kZero, kShared);
    if (i % 10 == 0) lock.ends_ns = 50;
    REQUIRE(!added(locks, lock).empty());
    REQUIRE(!added(locks, wanted(std::to_string(i), kZero, kShared, "bob")).empty());
  }
  std::set<std::string> tokens;
  int reads = 0;
  std::optional<std::string> last;
  for (auto some = locks.some_behind(last, 50); !some.empty(); some = locks.some_behind(last, 50)) {
    ++reads;
    for (const Lock& lock : some) tokens.insert(lock.token);
    last = some.back().name;
  }
  CHECK(tokens.size() == kNames + 9 * kNames / 10);
  CHECK(reads > 1);
  CHECK(locks.some_behind({}, 100).empty());
}

TEST_CASE("the password of a user with locks is given out every two seconds", "[locks]") {
  constexpr std::int64_t kLaterNs = 100 + Locks::kAskNs;
  Locks locks;
  Lock lock = wanted("a");
  lock.ends_ns = 10 * kLaterNs;
  const auto made = std::get<Lock>(locks.add(lock, "old"));
  CHECK_FALSE(locks.password_to_try("bob", kLaterNs));
  CHECK(locks.password_to_try("amy", kLaterNs) == "old");
  CHECK_FALSE(locks.password_to_try("amy", kLaterNs + 1));
  REQUIRE(locks.refresh(made.token, "a", "amy", kLaterNs, 10 * kLaterNs, "new"));
  locks.forget_user("amy", "old");
  CHECK(locks.has(made.token, "a", kLaterNs));
  CHECK(locks.password_to_try("amy", 2 * kLaterNs) == "new");
  locks.forget_user("amy", "new");
  CHECK_FALSE(locks.has(made.token, "a", 2 * kLaterNs));
  CHECK_FALSE(locks.password_to_try("amy", 4 * kLaterNs));
}

TEST_CASE("a user has at most 1,000 locks, and 100 once half of 16,384 are taken", "[locks]") {
  constexpr int kOfUser = 1'000;
  constexpr int kLater = 100;
  constexpr int kInAll = 16'384;
  Locks locks;
  int count = 0;
  const auto add = [&](const std::string& user) {
    const bool is_added =
        !added(locks, wanted(std::to_string(count), kZero, kExclusive, user)).empty();
    count += is_added ? 1 : 0;
    return is_added;
  };
  const auto add_all = [&](const std::string& user) {
    int made = 0;
    while (add(user)) ++made;
    return made;
  };
  for (int i = 0; i < 8; ++i) CHECK(add_all("many" + std::to_string(i)) == kOfUser);
  CHECK(add_all("half") == kInAll / 2 - 8 * kOfUser);
  for (int i = 0; i < 81; ++i) CHECK(add_all("few" + std::to_string(i)) == kLater);
  CHECK(add_all("last") == kInAll - kInAll / 2 - 81 * kLater);
  CHECK_FALSE(add("another"));
}

TEST_CASE("a name has at most 16 shared locks", "[locks]") {
  Locks of_name;
  for (int i = 0; i < 16; ++i) REQUIRE(!added(of_name, wanted("a", kZero, kShared)).empty());
  CHECK(added(of_name, wanted("a", kZero, kShared)).empty());
}

TEST_CASE("shared locks that reach one name are bounded", "[locks]") {
  Locks locks({.shared = 2});
  REQUIRE(!added(locks, wanted("a/b", kZero, kShared)).empty());
  REQUIRE(!added(locks, wanted("a/b", kZero, kShared, "bob")).empty());
  CHECK(std::holds_alternative<Locks::TooMany>(locks.add(wanted("a/b", kZero, kShared))));
  CHECK(std::holds_alternative<Locks::TooMany>(locks.add(wanted("a", kInfinity, kShared))));
  CHECK(!added(locks, wanted("a", kZero, kShared)).empty());
  CHECK(!added(locks, wanted("a/c", kInfinity, kShared)).empty());
  locks.forget("a/b", 11);
  CHECK(!added(locks, wanted("a/b", kZero, kShared)).empty());
}
