#include "authserver/passwords/hash_times.h"

#include <sodium.h>

#include <algorithm>

namespace authserver {

// A reader may still see 0 at a place that was just counted. It then sees a short time once.
void HashTimes::note(std::int64_t duration_ns) {
  durations_ns_[count_.fetch_add(1, std::memory_order_relaxed) % kMost].store(
      duration_ns, std::memory_order_relaxed);
}

std::int64_t HashTimes::any_ns() const {
  const auto known = std::min<std::uint32_t>(count_.load(std::memory_order_relaxed), kMost);
  if (known == 0) return 0;
  return durations_ns_[::randombytes_uniform(known)].load(std::memory_order_relaxed);
}

}  // namespace authserver
