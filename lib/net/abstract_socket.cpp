#include "net/abstract_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <sstream>

#include "net/listen.h"

namespace net {

namespace {

// The path of an abstract name begins with a NUL, and its size is in the size of the address.
struct AbstractAddress {
  explicit AbstractAddress(std::string_view name) {
    address.sun_family = AF_UNIX;
    const std::size_t taken = name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + taken);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t size;
};

Fd abstract_socket() {
  return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// A line of /proc/net/unix: a number, references, protocol, flags, type, state, inode and the name,
// in which "@" stands for each NUL. Empty unless the line is that of an abstract name on which
// somebody listens.
std::string listening_name(const std::string& line) {
  constexpr std::string_view kAccepts = "00010000";
  std::istringstream words(line);
  std::string skipped;
  std::string flags;
  std::string name;
  words >> skipped >> skipped >> skipped >> flags >> skipped >> skipped >> skipped >> name;
  return flags == kAccepts && name.starts_with('@') ? name.substr(1) : std::string();
}

}  // namespace

base::Result<Fd> listen_on_abstract(std::string_view name) {
  const AbstractAddress address(name);
  Fd fd = abstract_socket();
  if (!fd.is_open() || ::bind(fd.get(), address.get(), address.size) != 0 ||
      ::listen(fd.get(), longest_backlog()) != 0)
    return base::errno_error(base::ErrorCode::kInternal, "listen on " + std::string(name), errno);
  return fd;
}

base::Result<Fd> connect_to_abstract(std::string_view name) {
  const AbstractAddress address(name);
  Fd fd = abstract_socket();
  if (!fd.is_open() || ::connect(fd.get(), address.get(), address.size) != 0 ||
      ::fcntl(fd.get(), F_SETFL, 0) != 0)
    return base::errno_error(base::ErrorCode::kUnavailable, "connect to " + std::string(name),
                             errno);
  return fd;
}

std::optional<PeerCredentials> credentials_of_peer(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
  if (peer.uid == static_cast<uid_t>(-1)) return {};  // nobody is there
  return PeerCredentials{peer.pid, peer.uid};
}

std::vector<std::string> abstract_listeners(std::string_view prefix) {
  std::vector<std::string> names;
  std::ifstream sockets("/proc/self/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    std::string name = listening_name(line);
    if (!name.empty() && name.starts_with(prefix)) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace net
