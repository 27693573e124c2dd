// Both ends of a Unix-domain socket whose name is no file (man 7 unix, abstract), for the programs
// of one host. It needs no folder, and it goes with the process that made it.
//
// Names are those of a network namespace. Every user there may connect, and may take any name. So
// each end looks at credentials_of_peer().
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/fd.h"

namespace net {

// Binds a socket to the name and listens on it. accept_from() does not wait there. kInternal with
// the reason on failure, for example when the name is taken.
base::Result<Fd> listen_on_abstract(std::string_view name);

// Connects without waiting. kUnavailable if nobody listens, or if too many others wait.
base::Result<Fd> connect_to_abstract(std::string_view name);

// Who is at the other end: the process that connected, or the one that listens.
struct PeerCredentials {
  pid_t pid = 0;  // 0: this process cannot see it, because it is in another container
  uid_t uid = 0;
};

// Nothing if `fd` is no connected Unix-domain socket.
std::optional<PeerCredentials> credentials_of_peer(int fd);

// The names beginning so on which somebody listens now.
std::vector<std::string> abstract_listeners(std::string_view prefix);

}  // namespace net
