// A mutex that clang's -Wthread-safety checks. A member that is marked GUARDED_BY(mutex_) can only
// be used while that mutex is held. Other compilers ignore the marks.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/clock.h"
#include "base/futex.h"

#if defined(__clang__)
#define TURNSTILE_ANNOTATION(x) __attribute__((x))
#else
#define TURNSTILE_ANNOTATION(x)
#endif

#define CAPABILITY(x) TURNSTILE_ANNOTATION(capability(x))
#define SCOPED_CAPABILITY TURNSTILE_ANNOTATION(scoped_lockable)
#define GUARDED_BY(x) TURNSTILE_ANNOTATION(guarded_by(x))
#define REQUIRES(...) TURNSTILE_ANNOTATION(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) TURNSTILE_ANNOTATION(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) TURNSTILE_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASE(...) TURNSTILE_ANNOTATION(release_capability(__VA_ARGS__))

namespace base {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// Holds the mutex from its construction to its end.
class SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() RELEASE() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits until another one has changed something under the mutex.
class Condition {
 public:
  // Releases the mutex while it waits. It may return before anything has changed, so the caller
  // checks in a loop. Requires: the caller holds `mutex`, which is always the same one.
  void wait_ms(Mutex& mutex, int at_most_ms) REQUIRES(mutex) {
    const std::uint32_t seen = changes_.load();
    waiting_.fetch_add(1);
    mutex.unlock();
    sleep_while<Sleepers::kOfOneProcess>(changes_, seen, now_ns() + at_most_ms * kNsPerMs);
    mutex.lock();
    waiting_.fetch_sub(1);
  }

  // Any thread, whether it holds the mutex or not.
  void wake_one() {
    changes_.fetch_add(1);
    if (waiting_.load() > 0) base::wake<Sleepers::kOfOneProcess>(changes_);
  }
  void wake_all() {
    changes_.fetch_add(1);
    if (waiting_.load() > 0) base::wake_all<Sleepers::kOfOneProcess>(changes_);
  }

 private:
  std::atomic<std::uint32_t> changes_ = 0;
  std::atomic<std::uint32_t> waiting_ = 0;
};

}  // namespace base
