#include "base/process_mutex.h"

#include <cerrno>
#include <ctime>

namespace base {

ProcessMutex::ProcessMutex() {
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutex_init(&mutex_, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
}

ProcessMutex::Locked ProcessMutex::try_lock() { return outcome(::pthread_mutex_trylock(&mutex_)); }

ProcessMutex::Locked ProcessMutex::lock() { return outcome(::pthread_mutex_lock(&mutex_)); }

ProcessMutex::Locked ProcessMutex::lock_within_ms(int ms) {
  timespec until{};
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += ms / 1000;
  until.tv_nsec += ms % 1000 * 1'000'000L;
  if (until.tv_nsec >= 1'000'000'000) {
    until.tv_nsec -= 1'000'000'000;
    ++until.tv_sec;
  }
  return outcome(::pthread_mutex_timedlock(&mutex_, &until));
}

void ProcessMutex::unlock() { ::pthread_mutex_unlock(&mutex_); }

ProcessMutex::Locked ProcessMutex::outcome(int error) {
  if (error == 0) return Locked::kYes;
  if (error != EOWNERDEAD) return Locked::kNo;
  ::pthread_mutex_consistent(&mutex_);
  return Locked::kYesAfterDeath;
}

}  // namespace base
