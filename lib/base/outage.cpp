#include "base/outage.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"

namespace base {

namespace {

// The state of an outage that began at `since_ns`.
std::int64_t state_of(std::int64_t since_ns, bool is_logged) {
  return 2 * std::max<std::int64_t>(since_ns, 1) + (is_logged ? 1 : 0);
}
bool is_logged(std::int64_t state) { return state % 2 != 0; }
std::int64_t since_ns(std::int64_t state) { return state / 2; }

}  // namespace

bool Outage::note_failure(const Subject& subject, std::string_view reason, std::int64_t began_ns) {
  std::int64_t state = state_.load(std::memory_order_acquire);
  if (is_logged(state)) return false;
  if (state == kReachable) {
    if (began_ns <= ended_ns_.load(std::memory_order_relaxed)) return false;
    const std::int64_t begun = state_of(clock_(), false);
    if (!state_.compare_exchange_strong(state, begun)) return false;  // another one was faster
    state = begun;
  }
  if (!allowance_.take(clock_())) return false;
  if (!state_.compare_exchange_strong(state, state_of(since_ns(state), true))) return false;
  const auto left_out = left_out_.exchange(0, std::memory_order_relaxed);
  log::warn("{} {} at={} reason={}{}", subject.name, subject.begins, subject.where,
            log::quoted_long(reason),
            left_out > 0 ? fmt::format(" outages_left_out={}", left_out) : "");
  return true;
}

bool Outage::end(const Subject& subject) {
  const std::int64_t now = clock_();
  std::int64_t state = state_.load(std::memory_order_relaxed);
  if (state == kReachable) return false;
  // Stored before the state, so that whoever sees the new state also sees when it began.
  ended_ns_.store(now, std::memory_order_relaxed);
  if (!state_.compare_exchange_strong(state, kReachable, std::memory_order_release)) return false;
  if (!is_logged(state)) {
    left_out_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  log::info("{} {} at={} outage_s={:.1f}", subject.name, subject.ends, subject.where,
            static_cast<double>(now - since_ns(state)) / static_cast<double>(kNsPerS));
  return true;
}

}  // namespace base
