#include "tls/socket.h"

#include <cerrno>

namespace tls {

bool Socket::send_all(std::string_view bytes) {
  if (!channel_) return net::send_all(get(), bytes);
  while (!bytes.empty()) {
    const ssize_t sent = channel_->send(bytes, std::span<const char>());
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

ssize_t Socket::receive_by(std::span<char> into, base::Deadline deadline) {
  if (channel_) return channel_->receive_by(into, deadline);
  if (net::wait_until_readable(get(), deadline)) return net::receive(get(), into);
  errno = EAGAIN;
  return -1;
}

}  // namespace tls
