// What every account store promises, tested on each store that can be reached. SQLite always can;
// the others can if the runner has started a server (tests/with-stores).
#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "authserver/authenticator.h"
#include "serve/shared_memory.h"
#include "tests/authserver/stores/reachable.h"
#include "tests/catch.h"
#include "wire/error_word.h"

using namespace authserver;
using base::ErrorCode;

namespace {

std::unique_ptr<AccountStore> open(const tests::ReachableStore& reachable) {
  auto store = reachable.backend->open({});
  if (!store) FAIL(store.error().context);
  return std::move(*store);
}

constexpr std::string_view kUserBytes =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-@+";

// Makes names and passwords that a store might confuse. They are the same in each run.
class Awkward {
 public:
  std::string user() {
    // Half of the names differ from the one before in one byte, or are one byte longer.
    if (last_.empty() || last_.size() == wire::kMaxUserBytes || below(2) == 0) {
      last_.resize(1 + below(wire::kMaxUserBytes));
      std::generate(last_.begin(), last_.end(), [this] { return user_byte(); });
    } else if (below(2) == 0) {
      last_ += user_byte();
    } else {
      last_[below(last_.size())] ^= 0x20;  // changes the case of a letter
    }
    return last_;
  }

  std::string password() {
    std::string made(1 + below(wire::kMaxPasswordBytes), ' ');
    for (char& byte : made) byte = password_byte();
    return made;
  }

 private:
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }
  char user_byte() { return kUserBytes[below(kUserBytes.size())]; }
  char password_byte() {
    const auto byte = static_cast<unsigned char>(0x20 + below(0x100 - 0x20));
    return byte == 0x7f ? '\\' : static_cast<char>(byte);
  }

  std::mt19937 random_{20240229};
  std::string last_;
};

struct AwkwardAccount {
  std::string user;
  std::string password;
};

std::vector<AwkwardAccount> awkward_accounts(std::size_t count) {
  Awkward awkward;
  // Each name only once. Which of two came first would depend on chance.
  std::map<std::string, std::string> made;
  while (made.size() < count) {
    const std::string user = awkward.user();
    if (wire::is_valid_user(user)) made.emplace(user, awkward.password());
  }
  std::vector<AwkwardAccount> accounts;
  for (const auto& [user, password] : made) accounts.push_back({user, password});
  return accounts;
}

// The answers as words. Takes a list in braces, because that fixes the order of evaluation.
std::string words(std::initializer_list<base::Status> answers) {
  std::string all;
  for (const base::Status& status : answers) {
    all.append(status ? "OK" : wire::word_of(status.error().code)).append(" ");
  }
  return all;
}

// Creates and verifies every account on one store, with a few threads at the same time.
class Answers {
 public:
  Answers(const StoreBackend& backend, const std::vector<AwkwardAccount>& accounts)
      : backend_(backend), accounts_(accounts), answers_(accounts.size()) {}

  std::vector<std::string> ask() {
    // All accounts are created before the first is verified, so that the answers do not depend on
    // which thread is faster.
    for_all([&](AccountStore& store, const AwkwardAccount& one) {
      return words({authenticator_.create(store, {one.user, one.password}),
                    authenticator_.create(store, {one.user, "another"})});
    });
    for_all([&](AccountStore& store, const AwkwardAccount& one) {
      std::string other_case = one.user;
      for (char& byte : other_case) byte ^= static_cast<char>(std::isalpha(byte) != 0 ? 0x20 : 0);
      const std::string trimmed = one.password.substr(0, one.password.find_last_not_of(' ') + 1);
      return words({authenticator_.verify(store, {one.user, one.password}),
                    authenticator_.verify(store, {one.user, "another"}),
                    authenticator_.verify(store, {one.user, one.password + " "}),
                    authenticator_.verify(store, {one.user, trimmed}), find(store, other_case),
                    find(store, one.user + ".")});
    });
    return answers_;
  }

 private:
  // Asks the store itself. The authenticator would compute a hash for each unknown user.
  static base::Status find(AccountStore& store, const std::string& user) {
    const auto found = store.find_record(user);
    return found ? base::Status(base::kDone) : base::Status(found.error());
  }

  template <typename Ask>
  void for_all(const Ask& ask) {
    constexpr std::size_t kThreads = 4;
    std::vector<std::thread> threads;
    for (std::size_t first = 0; first < kThreads; ++first) {
      threads.emplace_back([&, first] {
        auto store = backend_.open({.timeout_ms = 60'000});  // the disk may be slow
        for (std::size_t i = first; store && i < accounts_.size(); i += kThreads) {
          answers_[i] += ask(**store, accounts_[i]);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  const StoreBackend& backend_;
  const std::vector<AwkwardAccount>& accounts_;
  std::vector<std::string> answers_;
  serve::Shared<SharedPasswordState> shared_{std::in_place, 1U};
  const Authenticator authenticator_ =
      std::move(*Authenticator::make({Scheme::kPlain, 0, kHashWaitMs}, *shared_));
};

bool exists(const base::Status& status) {
  return !status && status.error().code == ErrorCode::kExists;
}

bool is_not_found(const base::Status& status) {
  return !status && status.error().code == ErrorCode::kNotFound;
}

}  // namespace

TEST_CASE("an account is found as it was created, and created once", "[stores]") {
  for (const tests::ReachableStore& reachable : tests::reachable_stores()) {
    CAPTURE(reachable.name);
    const auto store = open(reachable);
    const std::string user = tests::fresh_user();
    CHECK(store->find_record(user).error().code == ErrorCode::kNotFound);
    REQUIRE(store->create({user, "$plain$one"}));
    CHECK(exists(store->create({user, "$plain$two"})));
    CHECK(*store->find_record(user) == "$plain$one");
    CHECK(*open(reachable)->find_record(user) == "$plain$one");
  }
}

TEST_CASE("a replaced record is found by everybody, and a removed account by nobody", "[stores]") {
  for (const tests::ReachableStore& reachable : tests::reachable_stores()) {
    CAPTURE(reachable.name);
    const auto store = open(reachable);
    const auto other = open(reachable);
    const std::string user = tests::fresh_user();
    const std::string bystander = user + "x";
    REQUIRE(store->create({user, "$plain$one"}));
    REQUIRE(store->create({bystander, "$plain$one"}));
    CHECK(*other->find_record(user) == "$plain$one");
    for (const char* record : {"$plain$two", "$plain$two", "$plain$three"}) {
      CHECK(store->replace({user, record}));
      CHECK(*other->find_record(user) == record);
    }
    CHECK(other->remove(user));
    CHECK(store->find_record(user).error().code == ErrorCode::kNotFound);
    CHECK(is_not_found(store->remove(user)));
    CHECK(is_not_found(store->replace({user, "$plain$four"})));
    CHECK(other->find_record(user).error().code == ErrorCode::kNotFound);
    CHECK(*other->find_record(bystander) == "$plain$one");
    CHECK(other->create({user, "$plain$five"}));
    CHECK(*store->find_record(user) == "$plain$five");
  }
}

TEST_CASE("a record is replaced for whoever knows it, and for nobody else", "[stores]") {
  for (const tests::ReachableStore& reachable : tests::reachable_stores()) {
    CAPTURE(reachable.name);
    const auto store = open(reachable);
    const auto other = open(reachable);
    const std::string user = tests::fresh_user();
    CHECK(is_not_found(store->replace_if({user, "$plain$two"}, "$plain$one")));
    REQUIRE(store->create({user, "$plain$one"}));
    CHECK(is_not_found(store->replace_if({user, "$plain$two"}, "$plain$One")));
    CHECK(is_not_found(store->replace_if({user, "$plain$two"}, "")));
    CHECK(*other->find_record(user) == "$plain$one");
    CHECK(store->replace_if({user, "$plain$two"}, "$plain$one"));
    CHECK(*other->find_record(user) == "$plain$two");
    CHECK(other->replace_if({user, "$plain$two"}, "$plain$two"));
    CHECK(is_not_found(store->replace_if({user, "$plain$three"}, "$plain$one")));
    // Neither leaves anything behind on the connection.
    CHECK(store->replace({user, "$plain$four"}));
    CHECK(store->replace_if({user, "$plain$five"}, "$plain$four"));
    CHECK(*store->find_record(user) == "$plain$five");
    CHECK(store->remove(user));
    CHECK(is_not_found(other->replace_if({user, "$plain$six"}, "$plain$five")));
  }
}

TEST_CASE("of many threads that replace one record at a time each loses nothing", "[stores]") {
  for (const tests::ReachableStore& reachable : tests::reachable_stores()) {
    CAPTURE(reachable.name);
    const std::string user = tests::fresh_user();
    REQUIRE(open(reachable)->create({user, "0"}));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        auto store = reachable.backend->open({.timeout_ms = 60'000});
        for (int done = 0; store && done < 10;) {
          const auto before = (*store)->find_record(user);
          if (!before) return;
          const std::string after = std::to_string(std::stoi(*before) + 1);
          if ((*store)->replace_if({user, after}, *before)) ++done;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(*open(reachable)->find_record(user) == "40");
  }
}

TEST_CASE("accounts that are removed while all are visited are left out", "[stores]") {
  for (const tests::ReachableStore& reachable : tests::reachable_stores()) {
    CAPTURE(reachable.name);
    const auto store = open(reachable);
    const auto other = open(reachable);
    const std::string kept = tests::fresh_user();
    std::vector<std::string> removed;
    for (int i = 0; i < 20; ++i) removed.push_back(tests::fresh_user());
    REQUIRE(store->create({kept, "$plain$kept"}));
    for (const std::string& user : removed) REQUIRE(store->create({user, "$plain$gone"}));
    bool are_removed = false;
    bool was_kept_visited = false;
    const auto visited = store->for_each([&](const Account& account) {
      was_kept_visited = was_kept_visited || account.user == kept;
      if (std::exchange(are_removed, true)) return;
      for (const std::string& user : removed) CHECK(other->remove(user));
    });
    CHECK(visited);
    CHECK(was_kept_visited);
  }
}

TEST_CASE("several users are looked up together as each alone", "[stores]") {
  for (const tests::ReachableStore& reachable : tests::reachable_stores()) {
    CAPTURE(reachable.name);
    const auto store = open(reachable);
    const std::string user = tests::fresh_user();
    const std::vector<std::string> names = {user + "a", user + "none", user + "b", user + "a"};
    const std::vector<std::string_view> users(names.begin(), names.end());
    const auto texts = [&] {
      std::vector<std::string> found;
      for (auto& record : store->find_records(users))
        found.push_back(record ? *record : std::string(wire::word_of(record.error().code)));
      return found;
    };
    CHECK(texts() == std::vector<std::string>(4, "not-found"));
    // What another one has created is found at once.
    REQUIRE(open(reachable)->create({names[0], "$plain$one"}));
    REQUIRE(open(reachable)->create({names[2], "$plain$two"}));
    const std::vector<std::string> expected = {"$plain$one", "not-found", "$plain$two",
                                               "$plain$one"};
    CHECK(texts() == expected);
    store->disconnect();
    CHECK(texts() == expected);
    REQUIRE(store->create({names[1], "$plain$three"}));
    CHECK(texts()[1] == "$plain$three");
  }
}

TEST_CASE("a store that was disconnected connects with its next request", "[stores]") {
  for (const tests::ReachableStore& reachable : tests::reachable_stores()) {
    CAPTURE(reachable.name);
    const auto store = open(reachable);
    store->disconnect();
    const std::string user = tests::fresh_user();
    REQUIRE(store->create({user, "$plain$one"}));
    store->disconnect();
    store->disconnect();
    CHECK(*store->find_record(user) == "$plain$one");
    store->disconnect();
    CHECK(store->ping());
    const std::string other = tests::fresh_user();
    CHECK(store->create({other, "$plain$two"}));
    CHECK(*store->find_record(other) == "$plain$two");
  }
}

TEST_CASE("names that differ in one byte or in case are different accounts", "[stores]") {
  for (const tests::ReachableStore& reachable : tests::reachable_stores()) {
    CAPTURE(reachable.name);
    const auto store = open(reachable);
    const std::string user = tests::fresh_user();
    const std::vector<std::string> alike = {user + "a",  user + "A",  user + "a.",
                                            user + "a+", user + "a@", user + "a_"};
    for (const std::string& name : alike) CHECK(store->create({name, "$plain$" + name}));
    for (const std::string& name : alike) CHECK(*store->find_record(name) == "$plain$" + name);
  }
}

TEST_CASE("records keep every byte", "[stores]") {
  std::string all_bytes = "$plain$ \\'\"%;-- ";
  for (int byte = 0x20; byte < 0x100; ++byte) {
    if (byte != 0x7f && all_bytes.size() < 7 + 128) all_bytes += static_cast<char>(byte);
  }
  for (const tests::ReachableStore& reachable : tests::reachable_stores()) {
    CAPTURE(reachable.name);
    const auto store = open(reachable);
    for (const std::string& record :
         {all_bytes, std::string("$plain$  "), std::string("$plain$\xff\xfe ")}) {
      const std::string user = tests::fresh_user();
      REQUIRE(store->create({user, record}));
      CHECK(*store->find_record(user) == record);
    }
  }
}

TEST_CASE("the longest names and records fit", "[stores]") {
  for (const tests::ReachableStore& reachable : tests::reachable_stores()) {
    CAPTURE(reachable.name);
    const auto store = open(reachable);
    std::string user = tests::fresh_user();
    user.resize(64, 'x');
    const std::string record = "$plain$" + std::string(128, 'p');
    REQUIRE(store->create({user, record}));
    CHECK(*store->find_record(user) == record);
    CHECK(store->find_record(user.substr(0, 63)).error().code == ErrorCode::kNotFound);
  }
}

TEST_CASE("of many threads that create one name exactly one succeeds", "[stores]") {
  for (const tests::ReachableStore& reachable : tests::reachable_stores()) {
    CAPTURE(reachable.name);
    const std::string user = tests::fresh_user();
    std::atomic<int> made = 0;
    std::atomic<int> taken = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        auto store = reachable.backend->open({});
        if (!store) return;
        const auto status = (*store)->create({user, "$plain$" + std::to_string(t)});
        ++(status ? made : taken);
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(made == 1);
    CHECK(taken == 7);
  }
}

TEST_CASE("a store that answers can be pinged", "[stores]") {
  for (const tests::ReachableStore& reachable : tests::reachable_stores()) {
    CAPTURE(reachable.name);
    CHECK(open(reachable)->ping());
  }
}

TEST_CASE("10,000 awkward names and passwords get the same answers on every store", "[stores]") {
  REQUIRE(start_cryptography());
  const std::vector<AwkwardAccount> accounts = awkward_accounts(10'000);
  std::vector<std::string> expected;
  for (const tests::ReachableStore& reachable : tests::reachable_stores()) {
    CAPTURE(reachable.name);
    const std::vector<std::string> answers = Answers(*reachable.backend, accounts).ask();
    const auto wrong = std::ranges::find_if_not(
        answers, [](const std::string& all) { return all.starts_with("OK exists OK denied "); });
    if (wrong != answers.end())
      FAIL_CHECK(*wrong << accounts[static_cast<std::size_t>(wrong - answers.begin())].user);
    if (expected.empty()) expected = answers;
    CHECK(std::ranges::mismatch(answers, expected).in1 == answers.end());
  }
}
