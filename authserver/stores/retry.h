// When a store that failed is asked again.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"

namespace authserver {

// How a store failed: it refused at once, or it let us wait.
enum class Failure { kAtOnce, kAfterWaiting };

// Tells the two kinds of failure apart. One thread.
class FailureTimer {
 public:
  // Starts with the request. A failure counts as kAfterWaiting once half of the time-out has
  // passed.
  explicit FailureTimer(std::int64_t timeout_ms)
      : at_once_(base::Deadline::in_ms(timeout_ms / 2)) {}

  // Of a request that has just failed.
  Failure failure() const {
    return at_once_.has_passed() ? Failure::kAfterWaiting : Failure::kAtOnce;
  }

 private:
  base::Deadline at_once_;
};

// Decides when a store that could not be reached is tried again. One thread.
//
// The waiting time starts at 50 ms and doubles with each failure. Up to half of it is left off at
// random, so that threads which lost the store together do not return together. A store that
// refuses at once is retried after at most 0.5 s, one that times out after at most 1 s. That bounds
// how late its return is noticed.
class Backoff {
 public:
  // Whether the store may be tried now. True before the first failure.
  bool may_try_now() const { return may_try_at(base::now_ns()); }
  bool may_try_at(std::int64_t now_ns) const;

  void failed(Failure failure, std::int64_t now_ns = base::now_ns());
  void succeeded() { next_wait_ms_ = 0; }

 private:
  std::int64_t next_wait_ms_ = 0;  // 0: the last try succeeded, or there was none
  std::int64_t not_before_ns_ = 0;
};

// The error of a request for which the store was not asked, because of the Backoff. `store` is its
// kind, for the log.
base::Error waiting_after_failure(std::string_view store);

// Whether it is such an error.
bool was_not_asked(const base::Error& error);

// Asks once more if the failure only shows that the server had closed a kept connection. Such a
// failure comes at once and closes the link. A store that hangs is not asked again, because it has
// had its time.
//
// `ask` returns a base::Result. Requires: it does no harm to ask twice.
template <typename Link, typename Ask>
auto ask_again_if_stale(const Link& link, std::int64_t timeout_ms, const Ask& ask) {
  const bool was_kept = link.is_connected();
  const FailureTimer timer(timeout_ms);
  auto answer = ask();
  const bool was_stale =
      !answer && was_kept && !link.is_connected() && timer.failure() == Failure::kAtOnce;
  if (was_stale) answer = ask();
  return answer;
}

}  // namespace authserver
