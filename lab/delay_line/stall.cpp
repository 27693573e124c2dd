#include "lab/delay_line/stall.h"

#include <netinet/in.h>

#include <algorithm>

namespace delay_line {
namespace {

constexpr std::size_t kWord = 4;          // bytes in which headers are counted
constexpr std::size_t kLeastHeader = 20;  // of IP, and of TCP
constexpr std::size_t kProtocolAt = 9, kSourceAt = 12, kTargetAt = 16;  // in a header of IP
constexpr std::size_t kOffsetAt = 12;                                   // in one of TCP
constexpr int kVersion = 4;

std::uint64_t number(const Packet& packet, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t k = 0; k < bytes; ++k) {
    value = value << 8 | std::to_integer<std::uint64_t>(packet[at + k]);
  }
  return value;
}

}  // namespace

bool Stall::holds(const Packet& packet, std::int64_t now_ns) {
  if (for_ns_ == 0) return false;
  const auto found = segment(packet);
  if (!found) return false;
  if (!stuck_ && found->has_data) {
    stuck_ = found->connection;
    until_ns_ = now_ns + for_ns_;
  }
  if (stuck_ && now_ns >= until_ns_) for_ns_ = 0;
  return for_ns_ > 0 && stuck_ == found->connection;
}

std::optional<Segment> segment(const Packet& packet) {
  if (packet.size() < kLeastHeader) return std::nullopt;
  const auto first = std::to_integer<unsigned>(packet[0]);
  const std::size_t ip = (first & 0xfU) * kWord;
  if (first >> 4U != kVersion || std::to_integer<int>(packet[kProtocolAt]) != IPPROTO_TCP ||
      ip < kLeastHeader || packet.size() < ip + kLeastHeader) {
    return std::nullopt;
  }
  const std::size_t tcp = (std::to_integer<unsigned>(packet[ip + kOffsetAt]) >> 4U) * kWord;
  Connection connection{{number(packet, kSourceAt, 4) << 16U | number(packet, ip, 2),
                         number(packet, kTargetAt, 4) << 16U | number(packet, ip + 2, 2)}};
  std::sort(connection.ends.begin(), connection.ends.end());
  return Segment{connection, packet.size() > ip + tcp};
}

}  // namespace delay_line
