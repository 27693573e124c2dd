// When a thread of a crowd was late itself.
#pragma once

#include <cstdint>
#include <deque>

namespace loadgen::crowd {

// Remembers the stalls of one thread, so that what began before a stall can be told from what began
// after it. All times are of base::now_ns(). One thread.
class Lateness {
 public:
  // At this moment the thread did what it should have done `late_ns` ago. The moments do not go
  // back. What is hardly late is not remembered.
  void note(std::int64_t now_ns, std::int64_t late_ns);

  // By how much the thread has been late at most, after a moment.
  std::int64_t most_since_ns(std::int64_t moment_ns) const;

 private:
  struct Late {
    std::int64_t at_ns;
    std::int64_t late_ns;
  };

  // In the order of their times. Each is less than the one before, since a later one that is more
  // makes an earlier one superfluous.
  std::deque<Late> stalls_;
};

}  // namespace loadgen::crowd
