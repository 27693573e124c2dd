#include "net/local_listener.h"

#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>

#include "net/ip_address.h"

namespace net {

namespace {

constexpr std::string_view kListening = "0A";  // TCP_LISTEN, as the kernel prints it

bool is_this_host(const std::string& host) {
  const auto address = parse_ip_address(host);
  if (!address) return host == "localhost";
  return address->is_v4() ? address->bytes()[12] == 127 : address->text() == "::1";
}

// A line of /proc/net/tcp begins with "0: 0100007F:2329 00000000:0000 0A": a number, the local
// address and port, those of the peer, and the state.
bool is_listening_line(const std::string& line, std::uint16_t port) {
  std::istringstream words(line);
  std::string number;
  std::string local;
  std::string peer;
  std::string state;
  words >> number >> local >> peer >> state;
  if (state != kListening) return false;
  const std::size_t colon = local.rfind(':');
  if (colon == std::string::npos) return false;
  unsigned found = 0;
  std::from_chars(local.data() + colon + 1, local.data() + local.size(), found, 16);
  return found == port;
}

// Returns whether the file could be read and has no such line.
bool has_no_listener(const std::string& path, std::uint16_t port) {
  std::ifstream sockets(path);
  if (!sockets) return false;
  for (std::string line; std::getline(sockets, line);) {
    if (is_listening_line(line, port)) return false;
  }
  return true;
}

}  // namespace

bool is_nobody_listening_at(const HostPort& address, const std::string& root) {
  if (address.is_unix()) {
    struct stat status {};
    return ::stat(address.unix_path().c_str(), &status) != 0 && errno == ENOENT;
  }
  if (!is_this_host(address.host)) return false;
  // The second file is missing where there is no IPv6.
  const std::string folder = root + "/proc/self/net/";
  return has_no_listener(folder + "tcp", address.port) &&
         (!std::ifstream(folder + "tcp6") || has_no_listener(folder + "tcp6", address.port));
}

}  // namespace net
