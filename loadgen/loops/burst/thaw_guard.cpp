#include "loadgen/loops/burst/thaw_guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/file_io.h"

namespace loadgen::burst {

namespace {

// What the handler of a signal needs. The main thread writes it, and the handler runs there.
std::atomic<int> handled_fd = -1;
std::atomic<const char*> handled_order = nullptr;
static_assert(std::atomic<int>::is_always_lock_free);
static_assert(std::atomic<const char*>::is_always_lock_free);

// All calls of this function and of those below that run in the child are allowed in a handler. A
// failure cannot be told to anybody.
void give(int fd, const char* order) {
  const std::size_t size = std::strlen(order);
  while (::write(fd, order, size) < 0 && errno == EINTR) continue;
}

// The signal then does what it does without a handler: it ends the program.
void thaw_and_end(int signal) {
  if (handled_fd >= 0) give(handled_fd, handled_order);
  ::raise(signal);
}

// They are blocked until the first one has come, see base::open_stop_signals().
void on_stop_signals(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

void close_from_to(int first, int last) {
  if (first <= last) ::close_range(static_cast<unsigned>(first), static_cast<unsigned>(last), 0);
}

void close_all_but(int one, int other) {
  const int low = std::min(one, other);
  const int high = std::max(one, other);
  close_from_to(0, low - 1);
  close_from_to(low + 1, high - 1);
  close_from_to(high + 1, INT_MAX);
}

void leave_the_terminal() {
  ::setsid();
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP}) ::signal(signal, SIG_IGN);
}

[[noreturn]] void thaw_at_end(int pipe_fd, int order_fd, const char* order) {
  leave_the_terminal();
  close_all_but(pipe_fd, order_fd);
  ::prctl(PR_SET_NAME, "thaw-guard");
  char nothing = 0;
  while (::read(pipe_fd, &nothing, 1) < 0 && errno == EINTR) continue;
  give(order_fd, order);
  ::_exit(0);
}

base::Error failed(const char* what) {
  return base::errno_error(base::ErrorCode::kUnavailable, std::string("--hold: ") + what, errno);
}

}  // namespace

base::Result<ThawGuard> ThawGuard::start(int order_fd, const char* thaw) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed("make a pipe");
  const net::Fd child_end(ends[0]);
  net::Fd held_end(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return failed("start a process");
  if (child == 0) thaw_at_end(child_end.get(), order_fd, thaw);
  handled_order = thaw;
  handled_fd = order_fd;
  on_stop_signals(thaw_and_end);
  return ThawGuard(std::move(held_end), child);
}

ThawGuard::~ThawGuard() {
  if (child_ < 0) return;
  on_stop_signals(SIG_DFL);
  handled_fd = -1;
  held_end_ = {};
  base::retried([this] { return ::waitpid(child_, nullptr, 0); });
}

}  // namespace loadgen::burst
