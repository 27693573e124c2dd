// A mutex between threads and processes that survives the death of its owner.
#pragma once

#include <pthread.h>

namespace base {

// May lie in shared memory. When a process dies, the mutexes that it held become free.
//
// Any thread or process; the one that locked it unlocks it.
class ProcessMutex {
 public:
  // What became of an attempt to lock it.
  enum class Locked {
    kYes,
    kYesAfterDeath,  // its last owner died with it, and may have left its data half changed
    kNo,
  };

  ProcessMutex();
  ProcessMutex(const ProcessMutex&) = delete;
  ProcessMutex& operator=(const ProcessMutex&) = delete;

  // Never waits; kNo if it is not free.
  Locked try_lock();

  // Waits until the mutex is free. Never kNo.
  Locked lock();

  // The same, but kNo once the time is over, by the clock of the day.
  Locked lock_within_ms(int ms);

  // Requires: the calling thread holds the mutex.
  void unlock();

 private:
  Locked outcome(int error);  // of a call that tried to lock

  pthread_mutex_t mutex_;
};

}  // namespace base
