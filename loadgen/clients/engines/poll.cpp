#include <cerrno>

#include "loadgen/clients/engines/engines.h"

namespace loadgen {

namespace {

// All users are in one array, which the system goes through in every call. That is what poll()
// costs. A negative descriptor is skipped, so a user that is not armed has one.
class PollEngine : public Engine {
 public:
  explicit PollEngine(std::uint32_t users) : fds_(users, -1), waiting_(users, {-1, 0, 0}) {}

  base::Status watch(std::uint32_t user, int fd) override {
    fds_[user] = fd;
    return base::kDone;
  }

  base::Status arm(std::uint32_t user, short events) override {
    waiting_[user] = {fds_[user], events, 0};
    return base::kDone;
  }

  void forget(std::uint32_t user) override { waiting_[user].fd = fds_[user] = -1; }

  base::Status wait(std::int64_t at_most_ns, std::vector<std::uint32_t>& ready) override {
    const timespec limit = timespec_of(at_most_ns);
    int left = ::ppoll(waiting_.data(), waiting_.size(), &limit, nullptr);
    if (left < 0) return errno == EINTR ? base::Status(base::kDone) : engine_error("poll");
    for (std::uint32_t user = 0; left > 0 && user < waiting_.size(); ++user) {
      if (waiting_[user].fd < 0 || waiting_[user].revents == 0) continue;
      waiting_[user].fd = -1;
      ready.push_back(user);
      --left;
    }
    return base::kDone;
  }

 private:
  std::vector<int> fds_;
  std::vector<pollfd> waiting_;
};

}  // namespace

OpenedEngine open_poll_engine(std::uint32_t users) {
  return std::unique_ptr<Engine>(std::make_unique<PollEngine>(users));
}

}  // namespace loadgen
