#include "authserver/stores/retry.h"

#include <utility>

#include "base/result.h"
#include "tests/catch.h"

using namespace authserver;

namespace {

// A link that fails as often as a test says, and is closed by each failure.
struct FakeLink {
  bool is_connected() const { return connected; }

  base::Status ask() {
    ++asked;
    if (failures == 0) {
      connected = true;
      return base::kDone;
    }
    --failures;
    connected = stays_connected;
    return base::Error{base::ErrorCode::kUnavailable, "failed"};
  }

  bool connected = true;
  bool stays_connected = false;
  int failures = 0;
  int asked = 0;
};

constexpr std::int64_t kLongMs = 60'000;

// How often the link was asked for one answer.
int asked(FakeLink link, std::int64_t timeout_ms) {
  (void)ask_again_if_stale(link, timeout_ms, [&link] { return link.ask(); });
  return link.asked;
}

}  // namespace

TEST_CASE("a kept connection that was closed is replaced once", "[stores]") {
  CHECK(asked({}, kLongMs) == 1);
  CHECK(asked({.failures = 1}, kLongMs) == 2);
  CHECK(asked({.failures = 2}, kLongMs) == 2);
}

TEST_CASE("no other failure is asked again", "[stores]") {
  CHECK(asked({.connected = false, .failures = 1}, kLongMs) == 1);       // a new connection
  CHECK(asked({.stays_connected = true, .failures = 3}, kLongMs) == 1);  // the server refused
  CHECK(asked({.failures = 1}, 0) == 1);                                 // it took too long
}

TEST_CASE("a failed store is not tried at once, and a store that works always is", "[stores]") {
  Backoff backoff;
  CHECK(backoff.may_try_now());
  for (int i = 0; i < 4; ++i) backoff.failed(Failure::kAtOnce);
  CHECK_FALSE(backoff.may_try_now());
  backoff.succeeded();
  CHECK(backoff.may_try_now());
}

TEST_CASE("a failed store is tried again soon, however often it has failed", "[stores]") {
  constexpr std::int64_t kNow = 1'000 * base::kNsPerS;
  const auto after_ms = [](std::int64_t ms) { return kNow + ms * base::kNsPerMs; };
  for (const auto& [failure, most_ms] :
       {std::pair(Failure::kAtOnce, 500), std::pair(Failure::kAfterWaiting, 1000)}) {
    Backoff backoff;
    backoff.failed(failure, kNow);
    CHECK_FALSE(backoff.may_try_at(after_ms(24)));
    CHECK(backoff.may_try_at(after_ms(50)));
    for (int i = 0; i < 100; ++i) {
      backoff.failed(failure, kNow);
      CHECK(backoff.may_try_at(after_ms(most_ms)));
    }
    CHECK_FALSE(backoff.may_try_at(after_ms(most_ms / 2 - 1)));
  }
}
