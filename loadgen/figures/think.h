// What is measured of the pauses of --think.
#pragma once

#include <algorithm>
#include <cstdint>

namespace loadgen {

// One pause, in times of base::now_ns().
struct Pause {
  std::int64_t from_ns = 0;  // the request before had ended, or the phase had begun
  std::int64_t due_ns = 0;   // the request should begin
  std::int64_t to_ns = 0;    // the thread ran again; of one that was cut, when that was
  bool is_over = false;      // the request begins; otherwise the end of the run cut the pause
};

// Written by one thread. Read by others after it was joined.
struct ThinkTally {
  std::uint64_t paused_ns = 0;     // in all pauses, with what passed of those that were cut
  std::uint64_t overslept_ns = 0;  // of that, after the request should have begun

  void add(const Pause& pause) {
    paused_ns += static_cast<std::uint64_t>(pause.to_ns - pause.from_ns);
    const std::int64_t asleep_ns = pause.to_ns - std::max(pause.from_ns, pause.due_ns);
    overslept_ns += static_cast<std::uint64_t>(std::max<std::int64_t>(0, asleep_ns));
  }

  void add(const ThinkTally& other) {
    paused_ns += other.paused_ns;
    overslept_ns += other.overslept_ns;
  }
};

}  // namespace loadgen
