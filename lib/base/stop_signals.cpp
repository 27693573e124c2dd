#include "base/stop_signals.h"

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>

namespace base {

namespace {

sigset_t stop_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  return set;
}

int open_signals(const sigset_t& set) { return ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK); }

}  // namespace

void hold_stop_signals() {
  const sigset_t set = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

void release_stop_signals() {
  const sigset_t set = stop_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void wait_for_stop_signal() {
  const sigset_t set = stop_signals();
  int which = 0;
  ::sigwait(&set, &which);
}

bool stop_was_asked_for() {
  sigset_t waiting;
  ::sigpending(&waiting);
  return ::sigismember(&waiting, SIGTERM) == 1 || ::sigismember(&waiting, SIGINT) == 1;
}

int open_stop_signals() { return open_signals(stop_signals()); }

int open_stop_and_child_signals() {
  sigset_t set = stop_signals();
  ::sigaddset(&set, SIGCHLD);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return open_signals(set);
}

}  // namespace base
