#include "lab/delay_line/way.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

namespace delay_line {
namespace {

constexpr std::size_t kLargest = 65536;  // of an IP packet

}  // namespace

bool Way::take(std::int64_t now_ns) {
  std::array<std::byte, kLargest> buffer;
  for (int taken = 0; taken < kMostAtOnce; ++taken) {
    const ssize_t got = ::read(from_, buffer.data(), buffer.size());
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    Packet packet(buffer.begin(), buffer.begin() + got);
    if (stall_.holds(packet, now_ns)) {
      ++told_.stuck;
    } else if (!line_.take(std::move(packet), now_ns)) {
      ++told_.dropped;
    }
  }
  return true;
}

void Way::give(std::int64_t now_ns) {
  while (auto out = line_.give(now_ns)) {
    const auto size = out->packet.size();
    if (::write(to_, out->packet.data(), size) != static_cast<ssize_t>(size)) {
      ++told_.refused;
      continue;
    }
    ++told_.packets;
    told_.bytes += size;
    told_.lateness.add(now_ns - out->due_ns);
  }
}

Told Way::tell() { return std::exchange(told_, Told{}); }

}  // namespace delay_line
