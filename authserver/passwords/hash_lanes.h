// Limits how many password hashes are computed at the same time, over all threads and processes.
// Each hash takes 19 MiB and a core.
#pragma once

#include <pthread.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace authserver {

// A mutex that may lie in shared memory. When a process dies, the mutexes that it held become free.
// Any thread or process; the one that locked it unlocks it.
class ProcessMutex {
 public:
  ProcessMutex();
  ProcessMutex(const ProcessMutex&) = delete;
  ProcessMutex& operator=(const ProcessMutex&) = delete;

  // Locks the mutex if it is free. False if it is not. Never waits.
  bool try_lock();

  // Waits for the mutex and locks it. False if the deadline passed first; it is a time of
  // base::now_ns().
  bool lock_until(std::int64_t deadline_ns);

  // Requires: the calling thread holds the mutex.
  void unlock();

 private:
  bool is_ours(int outcome);  // of a call that tried to lock

  pthread_mutex_t mutex_;
};

// Any thread or process; lies in shared memory.
//
// A request first waits for the queue of its credential, then for a lane. The queue lets
// simultaneous verifications of one credential run one after another, so that all except the first
// find the result in the memo. A lane is the right to compute one hash.
class HashLanes {
 public:
  static constexpr std::size_t kMostLanes = 64;

  // The right to compute one hash while the turn lives. Belongs to the thread that made it.
  class Turn {
   public:
    // Waits for the queue and a lane until the deadline, a time of base::now_ns(). Requests with
    // the same number in `queue` wait for each other. `lanes` must outlive the turn.
    Turn(HashLanes& lanes, std::size_t queue, std::int64_t deadline_ns);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // False if the deadline passed first. Then nothing may be computed.
    bool is_granted() const { return lane_ != nullptr; }

   private:
    ProcessMutex* queue_ = nullptr;
    ProcessMutex* lane_ = nullptr;
  };

  // `count` is how many hashes may be computed at once. Requires: 1 to kMostLanes.
  explicit HashLanes(std::size_t count) : count_(count) {}

 private:
  static constexpr std::size_t kQueues = 256;

  // The lane, locked; null if the deadline passed first.
  ProcessMutex* wait_for_lane(std::size_t hint, std::int64_t deadline_ns);

  const std::size_t count_;
  std::array<ProcessMutex, kQueues> queues_;
  std::array<ProcessMutex, kMostLanes> lanes_;  // the first count_ are used
};

}  // namespace authserver
