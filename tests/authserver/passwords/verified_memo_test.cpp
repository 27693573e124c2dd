#include "authserver/passwords/verified_memo.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <set>
#include <string_view>
#include <vector>

#include "tests/catch.h"

using namespace authserver;

namespace {

constexpr std::string_view kSecret = "correct horse battery staple";

// Hashes the secret far from the start of its stack, which the end of the thread uses again.
[[gnu::noinline]] void hash_secret(const CredentialHasher& hasher) {
  std::array<volatile char, 16 << 10> distance;
  distance.front() = 0;
  distance.back() = 0;
  (void)hasher.key_of({"bob", kSecret}, "record");
}

// The stack of a thread that has hashed the secret and ended.
class UsedStack {
 public:
  explicit UsedStack(const CredentialHasher& hasher) {
    REQUIRE(bytes_ != MAP_FAILED);
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstack(&attributes, bytes_, kBytes);
    const auto run = [](void* argument) -> void* {
      hash_secret(*static_cast<const CredentialHasher*>(argument));
      return nullptr;
    };
    pthread_t thread{};
    REQUIRE(::pthread_create(&thread, &attributes, run, const_cast<CredentialHasher*>(&hasher)) ==
            0);
    ::pthread_join(thread, nullptr);
    ::pthread_attr_destroy(&attributes);
  }
  ~UsedStack() { ::munmap(bytes_, kBytes); }
  UsedStack(const UsedStack&) = delete;
  UsedStack& operator=(const UsedStack&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(bytes_), kBytes}; }

 private:
  static constexpr std::size_t kBytes = 1 << 20;
  void* const bytes_ =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

}  // namespace

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

TEST_CASE("the key of a credential leaves no password on the stack", "[passwords]") {
  const CredentialHasher hasher;
  const UsedStack stack(hasher);
  CHECK(stack.bytes().find(kSecret) == std::string_view::npos);
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
