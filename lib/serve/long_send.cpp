#include "serve/long_send.h"

#include <algorithm>
#include <cerrno>

#include "base/waits.h"
#include "tls/channel.h"

namespace serve {

namespace {

constexpr std::size_t kLeastBytes = 768 * 1024;  // below, going there and back costs more
constexpr std::size_t kMostBytes = 16 * 1024 * 1024;
constexpr std::size_t kMostBytesOfLoop = 1024 * 1024;
constexpr std::size_t kMostEncryptedBytesOfLoop = 256 * 1024;
constexpr int kPatienceMs = 10;  // without a byte

struct Sent {
  ssize_t bytes = 0;
  int failure = 0;  // 0 with less than all bytes: the file has ended
};

ssize_t send_some(int fd, tls::Channel* encrypted, const net::FilePart& part) {
  return encrypted == nullptr ? net::send_file(fd, part) : encrypted->send({}, part);
}

Sent send_while_fast(int fd, tls::Channel* encrypted, net::FilePart part) {
  std::optional<net::BlockingSends> blocking;
  Sent all;
  while (part.size_bytes > 0) {
    const ssize_t sent = send_some(fd, encrypted, part);
    if (sent > 0) {
      all.bytes += sent;
      part.offset += sent;
      part.size_bytes -= static_cast<std::size_t>(sent);
    } else if (sent < 0 && errno == EAGAIN && !blocking) {
      blocking.emplace(fd, kPatienceMs);
    } else {
      all.failure = sent < 0 ? errno : 0;
      break;
    }
  }
  return all;
}

net::FilePart first_of(const net::FilePart& part, std::size_t most_bytes) {
  return {part.fd, part.offset, std::min(part.size_bytes, most_bytes)};
}

}  // namespace

ssize_t LongSend::send(int fd, tls::Channel* encrypted, const net::FilePart& part) {
  if (base::my_waits == nullptr) return send_some(fd, encrypted, part);
  if (is_peer_fast_ && part.size_bytes >= kLeastBytes) {
    if (const auto sent = send_elsewhere(fd, encrypted, first_of(part, kMostBytes))) return *sent;
  }
  const std::size_t most = encrypted == nullptr ? kMostBytesOfLoop : kMostEncryptedBytesOfLoop;
  return send_some(fd, encrypted, first_of(part, most));
}

// Nothing if no thread is free.
std::optional<ssize_t> LongSend::send_elsewhere(int fd, tls::Channel* encrypted,
                                                const net::FilePart& piece) {
  Sent sent;
  auto send = [&] { sent = send_while_fast(fd, encrypted, piece); };
  if (!base::my_waits->call_elsewhere_if_free(base::WorkRef(send))) return {};
  is_peer_fast_ = sent.failure != EAGAIN;
  errno = sent.failure;
  return sent.bytes > 0 || sent.failure == 0 ? sent.bytes : -1;
}

}  // namespace serve
