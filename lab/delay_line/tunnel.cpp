#include "lab/delay_line/tunnel.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <cerrno>

namespace delay_line {
namespace {

using base::ErrorCode;

base::Result<net::Fd> open_file(const std::string& path, int flags) {
  net::Fd fd(::open(path.c_str(), flags | O_CLOEXEC));
  if (!fd.is_open()) return base::errno_error(ErrorCode::kUnavailable, "open " + path, errno);
  return fd;
}

base::Status enter(const net::Fd& network, const std::string& file) {
  if (::setns(network.get(), CLONE_NEWNET) == 0) return base::kDone;
  return base::errno_error(ErrorCode::kDenied, "enter " + file, errno);
}

// In the namespace of the caller.
base::Result<net::Fd> made(const std::string& name) {
  auto device = open_file("/dev/net/tun", O_RDWR | O_NONBLOCK);
  if (!device) return device;
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (name.empty() || name.size() >= sizeof request.ifr_name) {
    return base::Error{ErrorCode::kInvalid, "no name of a device: " + name};
  }
  name.copy(request.ifr_name, name.size());
  if (::ioctl(device->get(), TUNSETIFF, &request) != 0) {
    return base::errno_error(ErrorCode::kDenied, "make the device " + name, errno);
  }
  return device;
}

}  // namespace

base::Result<net::Fd> open_tunnel(const std::string& namespace_file, const std::string& name) {
  const std::string own_file = "/proc/thread-self/ns/net";
  auto own = open_file(own_file, O_RDONLY);
  if (!own) return own;
  auto other = open_file(namespace_file, O_RDONLY);
  if (!other) return other;
  if (auto entered = enter(*other, namespace_file); !entered) return entered.error();
  auto device = made(name);
  if (auto back = enter(*own, own_file); !back) return back.error();
  return device;
}

}  // namespace delay_line
