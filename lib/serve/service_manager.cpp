#include "serve/service_manager.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "net/address.h"
#include "net/fd.h"

namespace serve {

void tell_ready(std::string_view status) {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || *path != '/' || std::strlen(path) > net::kMaxUnixPathBytes) return;
  const std::string message = "READY=1\nSTATUS=" + std::string(status) + "\n";
  const net::Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const net::SocketAddress address{std::string_view(path)};
  if (fd.is_open() && ::sendto(fd.get(), message.data(), message.size(), MSG_NOSIGNAL,
                               address.get(), address.size()) >= 0)
    return;
  const auto failure = base::errno_error(base::ErrorCode::kUnavailable, path, errno);
  base::log::warn("the service manager cannot be told that the server is ready reason=\"{}\"",
                  failure.context);
}

}  // namespace serve
