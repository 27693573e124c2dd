#include "loadgen/clients/engines/engine.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "loadgen/clients/engines/engines.h"

namespace loadgen {

base::Error engine_error(const char* what) {
  return base::errno_error(base::ErrorCode::kUnavailable, what, errno);
}

base::Status Engine::watch_changes(std::uint32_t /*user*/, int /*fd*/) {
  errno = ENOTSUP;
  return engine_error("this engine does not watch changes");
}

OpenedEngine open_engine(crowd::EngineKind kind, std::uint32_t users) {
  switch (kind) {
    case crowd::EngineKind::kEpoll: break;
    case crowd::EngineKind::kPoll: return open_poll_engine(users);
    case crowd::EngineKind::kSigio: return open_sigio_engine(users);
    case crowd::EngineKind::kIoUring: return open_io_uring_engine(users);
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

}  // namespace loadgen
