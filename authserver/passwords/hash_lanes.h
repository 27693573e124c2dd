// How many password hashes are computed at once, over all threads and processes: each takes 19 MiB
// and a core.
#pragma once

#include <pthread.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace authserver {

// A mutex that may lie in shared memory, and that a process which dies lets go of.
class ProcessMutex {
 public:
  ProcessMutex();
  ProcessMutex(const ProcessMutex&) = delete;
  ProcessMutex& operator=(const ProcessMutex&) = delete;

  bool try_lock();
  bool lock_until(std::int64_t deadline_ns);  // base::now_ns(); false when it has passed
  void unlock();

 private:
  bool is_ours(int outcome);
  pthread_mutex_t mutex_;
};

// Any thread or process (lies in shared memory).
//
// Who wants to compute a hash first queues up for its credential, so that simultaneous
// verifications of one credential come one after another and all but the first find it remembered,
// and then for a lane.
class HashLanes {
 public:
  static constexpr std::size_t kMostLanes = 64;

  // Right to compute one hash, as long as it lives; false in is_granted() when the wait was too
  // long.
  class Turn {
   public:
    Turn(HashLanes& lanes, std::size_t queue, std::int64_t deadline_ns);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    bool is_granted() const { return lane_ != nullptr; }

   private:
    ProcessMutex* queue_ = nullptr;
    ProcessMutex* lane_ = nullptr;
  };

  // `count` is how many hashes may be computed at once. Requires: 1 to kMostLanes.
  explicit HashLanes(std::size_t count) : count_(count) {}

 private:
  static constexpr std::size_t kQueues = 256;

  ProcessMutex* wait_for_lane(std::size_t hint, std::int64_t deadline_ns);

  const std::size_t count_;
  std::array<ProcessMutex, kQueues> queues_;
  std::array<ProcessMutex, kMostLanes> lanes_;  // the first count_ are used
};

}  // namespace authserver
