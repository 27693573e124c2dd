#include "net/backlog.h"

#include <sys/socket.h>

#include "base/host.h"

namespace net {

int longest_backlog() {
  return static_cast<int>(base::number_in("/proc/sys/net/core/somaxconn", SOMAXCONN));
}

}  // namespace net
