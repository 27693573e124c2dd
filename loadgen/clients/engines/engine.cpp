#include "loadgen/clients/engines/engine.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "loadgen/clients/engines/engines.h"

namespace loadgen::crowd {

base::Error engine_error(const char* what) {
  return base::errno_error(base::ErrorCode::kUnavailable, what, errno);
}

OpenedEngine open_engine(EngineKind kind, std::uint32_t users) {
  switch (kind) {
    case EngineKind::kEpoll: break;
    case EngineKind::kPoll: return open_poll_engine(users);
    case EngineKind::kSigio: return open_sigio_engine(users);
    case EngineKind::kIoUring: return open_io_uring_engine(users);
  }
  return open_epoll_engine(users);
}

base::Status limit_signal_queue(int signals) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_SIGPENDING, &limit) != 0) return engine_error("getrlimit");
  limit.rlim_cur = static_cast<rlim_t>(signals);
  limit.rlim_max = std::max(limit.rlim_max, limit.rlim_cur);
  if (::setrlimit(RLIMIT_SIGPENDING, &limit) != 0)
    return engine_error("--signal-queue: setrlimit RLIMIT_SIGPENDING");
  return base::kDone;
}

}  // namespace loadgen::crowd
