// One direction of a link: when a packet that enters it comes out, and whether it does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace delay_line {

using Packet = std::vector<std::byte>;

// From a moment on, each line carries so many bits in a second.
struct Rate {
  std::int64_t from_ns;
  double bits_per_s;
};

// What a link is made of. Several lines are used in turn, packet by packet, as routers once did.
struct Shape {
  std::vector<Rate> rates;  // the first one from 0, the others later and later
  int lines = 1;
  std::int64_t delay_ns = 0;    // from the last bit of a packet to the moment at which it is there
  std::size_t queue_bytes = 0;  // of packets that wait for a line; what is more is dropped
};

// All times are in nanoseconds since the start of the link, and never go back.
//
// Threads: one.
class Line {
 public:
  // Requires: a rate from 0 on, and a line.
  explicit Line(Shape shape);

  // False: the queue has no room, and the packet is gone.
  bool take(Packet packet, std::int64_t now_ns);

  // When the next packet comes out. None: the line is empty.
  std::optional<std::int64_t> next_due_ns() const;

  // The packet that is out by now, the earliest one first. None: there is none yet.
  struct Out {
    Packet packet;
    std::int64_t due_ns;
  };
  std::optional<Out> give(std::int64_t now_ns);

 private:
  struct Waiting {
    std::int64_t until_ns;
    std::size_t bytes;
    bool operator>(const Waiting& other) const { return until_ns > other.until_ns; }
  };
  struct Under {
    std::int64_t due_ns;
    std::uint64_t number;  // packets that are due at once keep their order
    Packet packet;
    bool operator>(const Under& other) const {
      return due_ns != other.due_ns ? due_ns > other.due_ns : number > other.number;
    }
  };
  template <typename T>
  using Earliest = std::priority_queue<T, std::vector<T>, std::greater<>>;

  double rate_at(std::int64_t ns) const;
  void let_go(std::int64_t now_ns);

  Shape shape_;
  std::vector<std::int64_t> free_ns_;  // when each line has sent what it was given
  std::size_t turn_ = 0;
  Earliest<Waiting> queue_;
  std::size_t queued_bytes_ = 0;
  Earliest<Under> under_way_;
  std::uint64_t taken_ = 0;
};

}  // namespace delay_line
