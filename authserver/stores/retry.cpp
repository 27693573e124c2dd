#include "authserver/stores/retry.h"

#include <sodium.h>

#include <algorithm>
#include <string>

namespace authserver {

namespace {

constexpr std::string_view kWaiting =
    ": the last connection attempt failed; waiting before the next one";

}  // namespace

base::Error waiting_after_failure(std::string_view store) {
  return {base::ErrorCode::kUnavailable, std::string(store).append(kWaiting)};
}

bool was_not_asked(const base::Error& error) { return error.context.ends_with(kWaiting); }

bool Backoff::may_try_at(std::int64_t now_ns) const {
  return next_wait_ms_ == 0 || now_ns >= not_before_ns_;
}

void Backoff::failed(Failure failure, std::int64_t now_ns) {
  constexpr std::int64_t kFirstMs = 50;
  const std::int64_t most_ms = failure == Failure::kAtOnce ? 500 : 1000;
  next_wait_ms_ = std::clamp(next_wait_ms_ * 2, kFirstMs, most_ms);
  const std::int64_t left_off_ms =
      ::randombytes_uniform(static_cast<std::uint32_t>(next_wait_ms_ / 2 + 1));
  not_before_ns_ = now_ns + (next_wait_ms_ - left_off_ms) * base::kNsPerMs;
}

}  // namespace authserver
