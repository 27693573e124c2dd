// When to try again to reach a store that could not be reached.
#pragma once

#include <cstdint>

namespace authserver {

// One thread. Waiting times double from 50 ms, each with up to half of it left off by chance so
// that many who were cut off together do not come back together. A store that refuses at once is
// tried again after at most half a second, as that costs next to nothing and it may be back; one
// that lets us wait, after at most one second: so long after its return it is asked again at the
// latest.
class Backoff {
 public:
  enum class Failure { kAtOnce, kAfterWaiting };

  bool may_try_now() const;
  void failed(Failure failure);
  void succeeded() { next_wait_ms_ = 0; }

 private:
  std::int64_t next_wait_ms_ = 0;  // 0: the last try succeeded, or there was none
  std::int64_t not_before_ns_ = 0;
};

}  // namespace authserver
