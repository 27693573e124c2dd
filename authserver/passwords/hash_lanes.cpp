#include "authserver/passwords/hash_lanes.h"

#include <cerrno>
#include <ctime>

#include "base/clock.h"

namespace authserver {

ProcessMutex::ProcessMutex() {
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutex_init(&mutex_, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
}

bool ProcessMutex::try_lock() { return is_ours(::pthread_mutex_trylock(&mutex_)); }

bool ProcessMutex::lock_until(std::int64_t deadline_ns) {
  const timespec deadline{deadline_ns / base::kNsPerS, deadline_ns % base::kNsPerS};
  return is_ours(::pthread_mutex_clocklock(&mutex_, CLOCK_MONOTONIC, &deadline));
}

void ProcessMutex::unlock() { ::pthread_mutex_unlock(&mutex_); }

// A process that died while it held the mutex left no data to repair, because the mutex only limits
// a count.
bool ProcessMutex::is_ours(int outcome) {
  if (outcome == EOWNERDEAD) ::pthread_mutex_consistent(&mutex_);
  return outcome == 0 || outcome == EOWNERDEAD;
}

HashLanes::Turn::Turn(HashLanes& lanes, std::size_t queue, std::int64_t deadline_ns) {
  ProcessMutex& mine = lanes.queues_[queue % kQueues];
  if (!mine.lock_until(deadline_ns)) return;
  queue_ = &mine;
  lane_ = lanes.wait_for_lane(queue, deadline_ns);
}

HashLanes::Turn::~Turn() {
  if (lane_ != nullptr) lane_->unlock();
  if (queue_ != nullptr) queue_->unlock();
}

// Takes any free lane. If there is none, waits for the lane that the hint chooses, so that waiters
// spread over all lanes.
ProcessMutex* HashLanes::wait_for_lane(std::size_t hint, std::int64_t deadline_ns) {
  const std::size_t first = hint % count_;
  for (std::size_t i = 0; i < count_; ++i) {
    ProcessMutex& lane = lanes_.at((first + i) % count_);
    if (lane.try_lock()) return &lane;
  }
  ProcessMutex& lane = lanes_.at(first);
  return lane.lock_until(deadline_ns) ? &lane : nullptr;
}

}  // namespace authserver
