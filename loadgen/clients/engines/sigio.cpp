#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "loadgen/clients/engines/engines.h"

namespace loadgen {

namespace {

const int kReadySignal = SIGRTMIN + 1;

// The system queues a signal for each event of a connection, with its descriptor (F_SETSIG), for
// the thread that owns it (F_SETOWN_EX). Signals of users that are not armed are taken and ignored.
// When the queue is full, one SIGIO comes instead; then the queue is emptied and poll() is called
// once.
class SigioEngine : public Engine {
 public:
  explicit SigioEngine(std::uint32_t users) : armed_(users, {-1, 0, 0}), fds_(users, -1) {
    sigemptyset(&signals_);
    sigaddset(&signals_, kReadySignal);
    sigaddset(&signals_, SIGIO);
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }

  base::Status watch(std::uint32_t user, int fd) override {
    fds_[user] = fd;
    const auto at = static_cast<std::size_t>(fd);
    if (users_by_fd_.size() <= at) users_by_fd_.resize(std::max(at + 1, 2 * users_by_fd_.size()));
    users_by_fd_[at] = user;
    const f_owner_ex owner{F_OWNER_TID, ::gettid()};
    if (::fcntl(fd, F_SETOWN_EX, &owner) != 0) return engine_error("fcntl F_SETOWN_EX");
    if (::fcntl(fd, F_SETSIG, kReadySignal) != 0) return engine_error("fcntl F_SETSIG");
    if (::fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) != 0) return engine_error("fcntl O_ASYNC");
    return base::kDone;
  }

  // An event since the caller's last look is in the queue. Only the end of connect() may have come
  // before watch(), so for that poll() is asked.
  base::Status arm(std::uint32_t user, short events) override {
    armed_[user] = {fds_[user], events, 0};
    if ((events & POLLOUT) != 0 && ::poll(&armed_[user], 1, 0) > 0) connected_.push_back(user);
    return base::kDone;
  }

  void forget(std::uint32_t user) override { armed_[user].fd = fds_[user] = -1; }

  base::Status wait(std::int64_t at_most_ns, std::vector<std::uint32_t>& ready) override {
    for (const std::uint32_t user : connected_) report(user, ready);
    connected_.clear();
    std::int64_t left_ns = ready.empty() ? at_most_ns : 0;
    for (int taken = 0; taken < kMostAtOnce; ++taken, left_ns = 0) {
      siginfo_t signal{};
      const timespec limit = timespec_of(left_ns);
      const int number = ::sigtimedwait(&signals_, &signal, &limit);
      if (number < 0) {
        if (errno == EAGAIN || errno == EINTR) break;
        return engine_error("sigtimedwait");
      }
      if (number == SIGIO) return poll_once(ready);
      const auto at = static_cast<std::size_t>(signal.si_fd);
      if (at < users_by_fd_.size() && is_awaited(users_by_fd_[at], signal.si_band))
        report(users_by_fd_[at], ready);
    }
    return base::kDone;
  }

  std::uint64_t overflows() const override { return overflows_; }

 private:
  static constexpr int kMostAtOnce = 512;

  bool is_awaited(std::uint32_t user, long events) const {
    return (events & (armed_[user].events | POLLHUP | POLLERR)) != 0;
  }

  void report(std::uint32_t user, std::vector<std::uint32_t>& ready) {
    if (armed_[user].fd < 0) return;
    armed_[user].fd = -1;
    ready.push_back(user);
  }

  // After this, no signal waits that an event of before has sent.
  base::Status poll_once(std::vector<std::uint32_t>& ready) {
    ++overflows_;
    const timespec now{};
    while (::sigtimedwait(&signals_, nullptr, &now) > 0) {
    }
    if (::poll(armed_.data(), armed_.size(), 0) < 0 && errno != EINTR) return engine_error("poll");
    for (std::uint32_t user = 0; user < armed_.size(); ++user)
      if (armed_[user].revents != 0) report(user, ready);
    return base::kDone;
  }

  sigset_t signals_{};
  std::vector<pollfd> armed_;  // with a negative descriptor: not armed
  std::vector<int> fds_;
  std::vector<std::uint32_t> users_by_fd_;
  std::vector<std::uint32_t> connected_;  // were so when they were armed
  std::uint64_t overflows_ = 0;
};

}  // namespace

OpenedEngine open_sigio_engine(std::uint32_t users) {
  return std::unique_ptr<Engine>(std::make_unique<SigioEngine>(users));
}

}  // namespace loadgen
