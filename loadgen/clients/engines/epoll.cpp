#include <sys/epoll.h>

#include <array>
#include <cerrno>

#include "loadgen/clients/engines/engines.h"
#include "net/fd.h"

namespace loadgen::crowd {

namespace {

class EpollEngine : public Engine {
 public:
  EpollEngine(net::Fd epoll, std::uint32_t users) : epoll_(std::move(epoll)), fds_(users, -1) {}

  base::Status watch(std::uint32_t user, int fd) override {
    fds_[user] = fd;
    return control(EPOLL_CTL_ADD, user, 0);
  }

  base::Status arm(std::uint32_t user, short events) override {
    return control(EPOLL_CTL_MOD, user, static_cast<std::uint32_t>(events));
  }

  // Closing takes the descriptor out of the set.
  void forget(std::uint32_t user) override { fds_[user] = -1; }

  base::Status wait(int at_most_ms, std::vector<std::uint32_t>& ready) override {
    const int count =
        ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), at_most_ms);
    if (count < 0) return errno == EINTR ? base::Status(base::kDone) : engine_error("epoll_wait");
    for (std::size_t at = 0; at < static_cast<std::size_t>(count); ++at)
      ready.push_back(events_[at].data.u32);
    return base::kDone;
  }

 private:
  base::Status control(int operation, std::uint32_t user, std::uint32_t events) {
    epoll_event event{};
    event.events = events | EPOLLONESHOT;
    event.data.u32 = user;
    if (::epoll_ctl(epoll_.get(), operation, fds_[user], &event) != 0)
      return engine_error("epoll_ctl");
    return base::kDone;
  }

  const net::Fd epoll_;
  std::vector<int> fds_;
  std::array<epoll_event, 512> events_{};
};

}  // namespace

OpenedEngine open_epoll_engine(std::uint32_t users) {
  net::Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.is_open()) return engine_error("epoll_create1");
  return std::unique_ptr<Engine>(std::make_unique<EpollEngine>(std::move(epoll), users));
}

}  // namespace loadgen::crowd
