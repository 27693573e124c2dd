// One direction of a link between two TUN devices, and what it did.
#pragma once

#include <cstdint>
#include <optional>

#include "lab/delay_line/lateness.h"
#include "lab/delay_line/line.h"
#include "lab/delay_line/stall.h"

namespace delay_line {

// What happened since it was last asked.
struct Told {
  std::uint64_t packets = 0;  // that came out
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;  // for want of room in the queue
  std::uint64_t stuck = 0;    // lost because their connection was stuck
  std::uint64_t refused = 0;  // that came out, and the kernel did not take
  Lateness lateness;
};

// Reads packets of one device and writes them into the other one, when their time has come.
//
// Times are as those of Line. Threads: one.
class Way {
 public:
  // Borrows both descriptors, which do not wait, and the stall, which both directions share.
  Way(int from, int to, Shape shape, Stall& stall)
      : from_(from), to_(to), line_(std::move(shape)), stall_(stall) {}

  // Takes packets that are there, at most kMostAtOnce, so that none that is due must wait for long.
  // False: the device is gone.
  bool take(std::int64_t now_ns);

  // Lets out all that is due by now.
  void give(std::int64_t now_ns);

  std::optional<std::int64_t> next_due_ns() const { return line_.next_due_ns(); }

  Told tell();

 private:
  static constexpr int kMostAtOnce = 64;

  int from_;
  int to_;
  Line line_;
  Stall& stall_;
  Told told_;
};

}  // namespace delay_line
