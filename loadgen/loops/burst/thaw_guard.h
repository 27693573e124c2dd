// Lets a held server go on when loadgen ends, however it ends.
#pragma once

#include <sys/types.h>

#include <utility>

#include "base/result.h"
#include "net/fd.h"

namespace loadgen::burst {

// A child process that sees when this process ends, also by kill -9 or a crash, and then writes the
// order to thaw. A stop signal that ends this process at once writes the order before.
//
// The child has a session of its own and ignores what asks a program to stop, so that the Ctrl-C
// of a terminal does not end it. It has nothing open but the file of the order and its end of a
// pipe, and ends together with this process.
//
// There is at most one guard at a time.
//
// Threads: the main thread.
class ThawGuard {
 public:
  // Starts the child. `order_fd` takes the order `thaw`; both must outlive the guard. Fails if
  // there is no room for a process or a pipe.
  static base::Result<ThawGuard> start(int order_fd, const char* thaw);

  ThawGuard(ThawGuard&& other) noexcept
      : held_end_(std::move(other.held_end_)), child_(std::exchange(other.child_, -1)) {}
  ThawGuard& operator=(ThawGuard&&) = delete;
  ThawGuard(const ThawGuard&) = delete;
  ThawGuard& operator=(const ThawGuard&) = delete;

  // Returns when the child has written the order and has ended.
  ~ThawGuard();

 private:
  ThawGuard(net::Fd held_end, pid_t child) : held_end_(std::move(held_end)), child_(child) {}

  net::Fd held_end_;  // of the pipe; the child reads the end of it when this process is gone
  pid_t child_;       // -1: moved away
};

}  // namespace loadgen::burst
