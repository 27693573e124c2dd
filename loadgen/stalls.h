// When loadgen itself stood still. What the figures show of such a time is not the server's.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace loadgen {

// The stalls of a stretch of time.
struct Stalls {
  int count = 0;
  std::int64_t longest_ns = 0;
  std::int64_t total_ns = 0;
};

// What a thread that only sleeps has seen: it should have woken, and could not.
//
// All times are of base::now_ns(). Any thread.
class StallLog {
 public:
  // Anything shorter is no stall.
  static constexpr std::int64_t kLongestDelayNs = 100'000'000;

  // The thread should have run at `due_ns` and runs again. For `waited_ns` of the time between it
  // was ready to run and had no core. That is no stall: other threads may have had one. See CpuUse
  // for how long they waited.
  void woke(std::int64_t due_ns, std::int64_t now_ns, std::int64_t waited_ns) EXCLUDES(mutex_);

  // The stalls between two moments, each with its part that lies between them, if that is over
  // kLongestDelayNs.
  Stalls between(std::int64_t from_ns, std::int64_t to_ns) const EXCLUDES(mutex_);

 private:
  struct Stall {
    std::int64_t from_ns;
    std::int64_t to_ns;
  };

  mutable base::Mutex mutex_;
  std::vector<Stall> stalls_ GUARDED_BY(mutex_);  // at most 10 for each second
};

// Watches this process, with a thread of its own that wakes every 10 ms. It notices when loadgen
// was stopped (SIGSTOP, a debugger, a frozen control group), and when its machine was paused. A
// server that stands still, however long, is none of its business, for the thread asks nobody for
// anything.
class StallWatch {
 public:
  // Throws std::system_error if the thread cannot be started.
  StallWatch();
  ~StallWatch();
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;

  // Ends the watch. All that happened before is noted then.
  void end();

  // See StallLog::between(). Any thread. What has only just happened may not be noted yet.
  Stalls between(std::int64_t from_ns, std::int64_t to_ns) const {
    return log_.between(from_ns, to_ns);
  }

  // The id of its thread, as in /proc/self/task.
  pid_t thread_id() const { return thread_id_.load(); }

 private:
  void watch();

  StallLog log_;
  std::atomic<pid_t> thread_id_ = 0;
  std::atomic<std::uint32_t> is_over_ = 0;  // the word on which the thread sleeps
  std::thread thread_;                      // the last member: it uses all others
};

}  // namespace loadgen
