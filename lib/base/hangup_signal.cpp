#include "base/hangup_signal.h"

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace base {

int open_hangup_signal() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGHUP, SIG_DFL);  // nohup ignores it, and an ignored signal does not wait
  return ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool take_hangup_signal(int fd) {
  signalfd_siginfo info;
  return ::read(fd, &info, sizeof info) == sizeof info;
}

}  // namespace base
