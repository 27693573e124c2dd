#include "authserver/authenticator.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "serve/shared_memory.h"
#include "tests/authserver/stores/reachable.h"
#include "tests/catch.h"

using namespace authserver;
using base::ErrorCode;

namespace {

constexpr std::int64_t kMemoMs = 60'000;
constexpr std::int64_t kShortWaitMs = 30;

// An authenticator on a real SQLite store. It computes one hash at a time.
struct Setup {
  explicit Setup(const AuthenticatorOptions& options = {Scheme::kArgon2id, kMemoMs, kHashWaitMs}) {
    REQUIRE(start_cryptography());
    authenticator.emplace(std::move(*Authenticator::make(options, *shared)));
    store = std::move(*tests::reachable_stores().front().backend->open({}));
  }
  base::Status verify(std::string_view password) {
    return authenticator->verify(*store, {user, password});
  }
  base::Status create(std::string_view password) {
    return authenticator->create(*store, {user, password});
  }

  const std::string user = tests::fresh_user();
  serve::Shared<SharedPasswordState> shared{std::in_place, 1U};
  std::optional<Authenticator> authenticator;
  std::unique_ptr<AccountStore> store;
};

bool is(const base::Status& status, ErrorCode code) {
  return !status && status.error().code == code;
}

// A store with one record, which a test can change as another authserver would.
class OneRecord : public AccountStore {
 public:
  base::Status create(const Account&) override { return base::Error{ErrorCode::kExists, ""}; }
  base::Status replace(const Account&) override { return base::kDone; }
  base::Status remove(std::string_view) override { return base::kDone; }
  base::Status replace_if(const Account& account, std::string_view before) override {
    if (before != record) return base::Error{ErrorCode::kNotFound, ""};
    record = account.record;
    return base::kDone;
  }
  base::Result<std::string> find_record(std::string_view) override { return record; }
  base::Status ping() override { return base::kDone; }
  base::Status for_each(const std::function<void(const Account&)>&) override { return base::kDone; }
  void disconnect() override {}

  std::string record;
};

std::int64_t cpu_of_this_thread_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * base::kNsPerS + used.tv_nsec;
}

// Whether a thread of this process waits for something.
bool sleeps(pid_t thread) {
  std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(stat, line);
  return line.find(") S ") != std::string::npos;
}

}  // namespace

TEST_CASE("the right password is verified, a wrong one and an unknown user are denied",
          "[authserver]") {
  for (const Scheme scheme : {Scheme::kArgon2id, Scheme::kPlain}) {
    Setup setup({scheme, kMemoMs, kHashWaitMs});
    CHECK(is(setup.verify("right"), ErrorCode::kDenied));
    REQUIRE(setup.create("right"));
    CHECK(setup.verify("right"));
    CHECK(setup.verify("right"));
    CHECK(is(setup.verify("wrong"), ErrorCode::kDenied));
    CHECK(is(setup.create("right"), ErrorCode::kExists));
  }
}

TEST_CASE("a record is overwritten once it was checked", "[authserver]") {
  Setup setup;
  for (const char* const password : {"right", "wrong"}) {
    base::Result<std::string> record = std::string("$plain$right");
    CHECK(setup.authenticator->verify({setup.user, password}, record, [] {}).ok() ==
          (password == std::string("right")));
    REQUIRE(record);
    CHECK(record->find("right") == std::string::npos);
  }
}

TEST_CASE("a wrong password and an unknown user are denied again and again", "[authserver]") {
  Setup setup;
  REQUIRE(setup.create("right"));
  for (int i = 0; i < 3; ++i) {
    CHECK(is(setup.verify("wrong"), ErrorCode::kDenied));
    CHECK(is(setup.authenticator->verify(*setup.store, {setup.user + "x", "right"}),
             ErrorCode::kDenied));
  }
}

TEST_CASE("a remembered credential is not accepted after the record has changed", "[authserver]") {
  Setup setup;
  OneRecord store;
  store.record = *make_record(Scheme::kArgon2id, "old");
  CHECK(setup.authenticator->verify(store, {"bob", "old"}));
  CHECK(setup.authenticator->verify(store, {"bob", "old"}));
  store.record = *make_record(Scheme::kArgon2id, "new");
  CHECK(is(setup.authenticator->verify(store, {"bob", "old"}), ErrorCode::kDenied));
  CHECK(setup.authenticator->verify(store, {"bob", "new"}));
}

TEST_CASE("a record that costs more than ours is an error, and nothing is computed",
          "[authserver]") {
  Setup setup({Scheme::kArgon2id, kMemoMs, kShortWaitMs});
  OneRecord store;
  store.record = "$argon2id$v=19$m=524288,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$aGFzaA";
  const HashLanes::Turn only_lane(setup.shared->lanes, 0, base::now_ns() + base::kNsPerS);
  std::thread([&] {
    CHECK(is(setup.authenticator->verify(store, {"bob", "old"}), ErrorCode::kInternal));
  }).join();
}

TEST_CASE("a wrong password for a cheaper record is denied as late as any other", "[authserver]") {
  constexpr std::int64_t kUsualNs = 40 * base::kNsPerMs;
  Setup setup;
  for (int i = 0; i < 64; ++i) setup.shared->times.note(kUsualNs);
  OneRecord store;
  for (const char* const record : {"$argon2id$v=19$m=8192,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$"
                                   "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE",
                                   "not a record"}) {
    store.record = record;
    const std::int64_t began_ns = base::now_ns();
    CHECK(is(setup.authenticator->verify(store, {"bob", "wrong"}), ErrorCode::kDenied));
    CHECK(base::now_ns() - began_ns >= kUsualNs);
  }
}

TEST_CASE("the time of a hash is remembered if the record costs as much as ours", "[authserver]") {
  constexpr std::int64_t kLongNs = 60 * base::kNsPerS;
  Setup setup;
  OneRecord store;
  store.record = *make_record(Scheme::kArgon2id, "right");
  for (int i = 0; i < 64; ++i) setup.shared->times.note(kLongNs);
  CHECK(setup.shared->times.any_ns() == kLongNs);
  for (int i = 0; i < 64; ++i) (void)setup.authenticator->verify(store, {"bob", "wrong"});
  CHECK(setup.shared->times.any_ns() < kLongNs);
}

TEST_CASE("with no free lane a new hash is unavailable, and remembered credentials do not wait",
          "[authserver]") {
  Setup setup({Scheme::kArgon2id, kMemoMs, kShortWaitMs});
  REQUIRE(setup.create("right"));
  REQUIRE(setup.verify("right"));
  const HashLanes::Turn only_lane(setup.shared->lanes, 0, base::now_ns() + base::kNsPerS);
  REQUIRE(only_lane.is_granted());
  std::thread([&] {
    CHECK(setup.verify("right"));
    CHECK(is(setup.verify("wrong"), ErrorCode::kUnavailable));
    CHECK(is(setup.create("right"), ErrorCode::kUnavailable));
  }).join();
}

TEST_CASE("an unknown user costs a hash even if new accounts are stored in plain text",
          "[authserver]") {
  Setup setup({Scheme::kPlain, kMemoMs, kShortWaitMs});
  REQUIRE(setup.create("right"));
  const HashLanes::Turn only_lane(setup.shared->lanes, 0, base::now_ns() + base::kNsPerS);
  std::thread([&] {
    CHECK(setup.verify("right"));
    CHECK(is(setup.verify("wrong"), ErrorCode::kDenied));
    CHECK(is(setup.authenticator->verify(*setup.store, {tests::fresh_user(), "any"}),
             ErrorCode::kUnavailable));
  }).join();
}

TEST_CASE("a credential is remembered for as long as was asked, and no longer", "[authserver]") {
  constexpr std::int64_t kShortMemoMs = 1;
  Setup setup({Scheme::kArgon2id, kShortMemoMs, kShortWaitMs});
  REQUIRE(setup.create("right"));
  REQUIRE(setup.verify("right"));
  const auto forgotten = base::Deadline::in_ms(kShortMemoMs);
  while (!forgotten.has_passed()) std::this_thread::yield();
  const HashLanes::Turn only_lane(setup.shared->lanes, 0, base::now_ns() + base::kNsPerS);
  std::thread([&] { CHECK(is(setup.verify("right"), ErrorCode::kUnavailable)); }).join();
}

TEST_CASE("simultaneous verifications of one credential compute one hash", "[authserver]") {
  constexpr std::size_t kThreads = 3;
  Setup setup({Scheme::kArgon2id, kMemoMs, 60'000});
  OneRecord store;
  store.record = *make_record(Scheme::kArgon2id, "right");
  std::optional<HashLanes::Turn> only_lane;
  only_lane.emplace(setup.shared->lanes, 0, base::now_ns() + base::kNsPerS);
  std::array<std::atomic<pid_t>, kThreads> ids{};
  std::array<bool, kThreads> is_right{};
  std::array<std::int64_t, kThreads> cpu_ns{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ids[t] = ::gettid();
      is_right[t] = setup.authenticator->verify(store, {"bob", "right"}).ok();
      cpu_ns[t] = cpu_of_this_thread_ns();
    });
  }
  for (const auto& id : ids) {
    while (id == 0 || !sleeps(id)) std::this_thread::yield();
  }
  only_lane.reset();
  for (std::thread& thread : threads) thread.join();
  CHECK(std::ranges::all_of(is_right, std::identity()));
  std::ranges::sort(cpu_ns);
  CHECK(cpu_ns[kThreads - 2] * 3 < cpu_ns[kThreads - 1]);  // only one of them has computed
}

TEST_CASE("without a memo nothing is remembered", "[authserver]") {
  Setup setup({Scheme::kArgon2id, 0, kShortWaitMs});
  REQUIRE(setup.create("right"));
  REQUIRE(setup.verify("right"));
  const HashLanes::Turn only_lane(setup.shared->lanes, 0, base::now_ns() + base::kNsPerS);
  std::thread([&] { CHECK(is(setup.verify("right"), ErrorCode::kUnavailable)); }).join();
}
