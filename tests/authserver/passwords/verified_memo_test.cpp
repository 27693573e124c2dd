#include "authserver/passwords/verified_memo.h"

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "tests/catch.h"

using namespace authserver;

TEST_CASE("the key depends on user, password and record, and on their lengths", "[passwords]") {
  const CredentialHasher hasher;
  std::set<std::pair<std::uint64_t, std::uint64_t>> keys;
  const auto note = [&](wire::Credentials account, std::string_view record) {
    const CredentialKey key = hasher.key_of(account, record);
    keys.emplace(key.high, key.low);
  };
  note({"bob", "pw"}, "r");
  note({"bob", "pw"}, "r2");
  note({"bob", "pwr"}, "");
  note({"bobp", "w"}, "r");
  note({"alice", "pw"}, "r");
  CHECK(keys.size() == 5);
  CHECK(hasher.key_of({"bob", "pw"}, "r") == hasher.key_of({"bob", "pw"}, "r"));
}

TEST_CASE("two hashers give different keys", "[passwords]") {
  CHECK_FALSE(CredentialHasher().key_of({"bob", "pw"}, "r") ==
              CredentialHasher().key_of({"bob", "pw"}, "r"));
}

TEST_CASE("a memo remembers until the time is over, and only what it was given", "[passwords]") {
  const auto memo = std::make_unique<VerifiedMemo>();
  const CredentialKey key{1, 2};
  CHECK_FALSE(memo->contains(key, 0));
  memo->remember(key, 100);
  CHECK(memo->contains(key, 99));
  CHECK_FALSE(memo->contains(key, 100));
  CHECK_FALSE(memo->contains({1, 3}, 0));
}

TEST_CASE("a set holds eight credentials, and a ninth replaces the one that ends first",
          "[passwords]") {
  const auto memo = std::make_unique<VerifiedMemo>();
  const auto key = [](std::uint64_t number) { return CredentialKey{5 + number * 8 * 1024, 1}; };
  for (std::uint64_t i = 0; i < 8; ++i)
    memo->remember(key(i), i == 3 ? 100 : 200 + static_cast<std::int64_t>(i));
  for (std::uint64_t i = 0; i < 8; ++i) CHECK(memo->contains(key(i), 0));
  memo->remember(key(8), 300);
  for (std::uint64_t i = 0; i < 9; ++i) CHECK(memo->contains(key(i), 0) == (i != 3));
}

TEST_CASE("a credential that is verified again stays in its place", "[passwords]") {
  const auto memo = std::make_unique<VerifiedMemo>();
  const auto key = [](std::uint64_t number) { return CredentialKey{number * 8 * 1024, 1}; };
  for (std::uint64_t i = 0; i < 8; ++i) memo->remember(key(i), 100);
  for (int i = 0; i < 8; ++i) memo->remember(key(0), 200);
  for (std::uint64_t i = 0; i < 8; ++i) CHECK(memo->contains(key(i), 0));
  CHECK(memo->contains(key(0), 150));
}

TEST_CASE("of 20,000 credentials nearly all stay in the memo", "[passwords]") {
  const auto memo = std::make_unique<VerifiedMemo>();
  std::mt19937_64 random(1);
  std::vector<CredentialKey> keys(20'000);
  for (CredentialKey& key : keys) key = {random(), random()};
  for (const CredentialKey& key : keys) memo->remember(key, 100);
  const auto kept =
      std::ranges::count_if(keys, [&](const auto& key) { return memo->contains(key, 0); });
  CHECK(kept > 19'950);
}
