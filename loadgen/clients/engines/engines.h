// The engines, each in a file of its own.
#pragma once

#include "loadgen/clients/engines/engine.h"

namespace loadgen::crowd {

using OpenedEngine = base::Result<std::unique_ptr<Engine>>;

OpenedEngine open_epoll_engine(std::uint32_t users);
OpenedEngine open_poll_engine(std::uint32_t users);
OpenedEngine open_sigio_engine(std::uint32_t users);
OpenedEngine open_io_uring_engine(std::uint32_t users);

// Why an engine cannot go on: `what` is the system call that failed with errno.
base::Error engine_error(const char* what);

}  // namespace loadgen::crowd
