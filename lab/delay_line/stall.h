// A TCP connection that gets stuck: for a time, a link loses all of its packets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lab/delay_line/line.h"

namespace delay_line {

// The same in both directions.
struct Connection {
  std::array<std::uint64_t, 2> ends;  // address and port of each, the smaller one first
  bool operator==(const Connection&) const = default;
};

// Times are as those of Line. Threads: one.
class Stall {
 public:
  // Sticks the connection of the next packet that holds() is asked about and that has data.
  void begin(std::int64_t for_ns) {
    for_ns_ = for_ns;
    stuck_.reset();
  }

  // Whether this packet is lost now.
  bool holds(const Packet& packet, std::int64_t now_ns);

 private:
  std::int64_t for_ns_ = 0;  // 0: nothing is to be stuck
  std::int64_t until_ns_ = 0;
  std::optional<Connection> stuck_;
};

// Of an IPv4 packet of TCP, its connection and whether it has data.
struct Segment {
  Connection connection;
  bool has_data;
};
// None: it is another packet, or it is cut short.
std::optional<Segment> segment(const Packet& packet);

}  // namespace delay_line
