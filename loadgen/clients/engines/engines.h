// The engines, each in a file of its own.
#pragma once

#include <ctime>

#include "base/clock.h"
#include "loadgen/clients/engines/engine.h"

namespace loadgen {

using OpenedEngine = base::Result<std::unique_ptr<Engine>>;

OpenedEngine open_epoll_engine(std::uint32_t users);
OpenedEngine open_poll_engine(std::uint32_t users);
OpenedEngine open_sigio_engine(std::uint32_t users);
OpenedEngine open_io_uring_engine(std::uint32_t users);

// A time as the system wants it.
constexpr timespec timespec_of(std::int64_t ns) {
  return {.tv_sec = ns / base::kNsPerS, .tv_nsec = ns % base::kNsPerS};
}

// Why an engine cannot go on: `what` is the system call that failed with errno.
base::Error engine_error(const char* what);

}  // namespace loadgen
