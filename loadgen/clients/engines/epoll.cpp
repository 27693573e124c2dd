#include <sys/epoll.h>

#include <array>
#include <cerrno>

#include "loadgen/clients/engines/engines.h"
#include "net/fd.h"

namespace loadgen {

namespace {

class EpollEngine : public Engine {
 public:
  EpollEngine(net::Fd epoll, std::uint32_t users)
      : epoll_(std::move(epoll)), fds_(users, -1), has_ended_(users) {}

  base::Status watch(std::uint32_t user, int fd) override {
    fds_[user] = fd;
    return control(EPOLL_CTL_ADD, user, EPOLLONESHOT);
  }

  base::Status watch_changes(std::uint32_t user, int fd) override {
    fds_[user] = fd;
    has_ended_[user] = false;
    return control(EPOLL_CTL_ADD, user, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
  }

  bool has_ended(std::uint32_t user) const override { return has_ended_[user]; }

  base::Status arm(std::uint32_t user, short events) override {
    return control(EPOLL_CTL_MOD, user, static_cast<std::uint32_t>(events) | EPOLLONESHOT);
  }

  // Closing takes the descriptor out of the set.
  void forget(std::uint32_t user) override { fds_[user] = -1; }

  base::Status wait(std::int64_t at_most_ns, std::vector<std::uint32_t>& ready) override {
    const int count = wait_for_events(at_most_ns);
    if (count < 0) return errno == EINTR ? base::Status(base::kDone) : engine_error("epoll_wait");
    for (std::size_t at = 0; at < static_cast<std::size_t>(count); ++at) {
      const std::uint32_t user = events_[at].data.u32;
      if ((events_[at].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) has_ended_[user] = true;
      ready.push_back(user);
    }
    return base::kDone;
  }

 private:
  // Before Linux 5.11, and in sandboxes that do not know the call, the time is rounded up to
  // milliseconds.
  int wait_for_events(std::int64_t at_most_ns) {
    const auto most = static_cast<int>(events_.size());
    if (has_exact_wait_) {
      const timespec limit = timespec_of(at_most_ns);
      const int count = ::epoll_pwait2(epoll_.get(), events_.data(), most, &limit, nullptr);
      if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
      has_exact_wait_ = false;
    }
    const std::int64_t at_most_ms = (at_most_ns + base::kNsPerMs - 1) / base::kNsPerMs;
    return ::epoll_wait(epoll_.get(), events_.data(), most, static_cast<int>(at_most_ms));
  }

  base::Status control(int operation, std::uint32_t user, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.u32 = user;
    if (::epoll_ctl(epoll_.get(), operation, fds_[user], &event) != 0)
      return engine_error("epoll_ctl");
    return base::kDone;
  }

  const net::Fd epoll_;
  std::vector<int> fds_;
  std::vector<bool> has_ended_;
  std::array<epoll_event, 512> events_{};
  bool has_exact_wait_ = true;
};

}  // namespace

OpenedEngine open_epoll_engine(std::uint32_t users) {
  net::Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.is_open()) return engine_error("epoll_create1");
  return std::unique_ptr<Engine>(std::make_unique<EpollEngine>(std::move(epoll), users));
}

}  // namespace loadgen
