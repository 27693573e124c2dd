// The owner of a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace net {

// Owns one file descriptor, or none, and closes it exactly once. An int from get() is borrowed.
//
// Threads: one at a time. Move the Fd to hand the descriptor to another thread.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }

  // Gives the descriptor to the caller, who must close it.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;  // -1: nothing owned
};

}  // namespace net
