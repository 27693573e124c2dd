#include "authserver/passwords/verified_memo.h"

#include <memory>
#include <set>

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

TEST_CASE("a new entry may replace an old one, but never turns it into another key",
          "[passwords]") {
  const auto memo = std::make_unique<VerifiedMemo>();
  const CredentialKey old_key{5, 1};
  const CredentialKey new_key{5 + 64 * 1024, 1};
  memo->remember(old_key, 100);
  memo->remember(new_key, 100);
  CHECK(memo->contains(new_key, 0));
  CHECK_FALSE(memo->contains(old_key, 0));
}
