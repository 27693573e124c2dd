// What one thread does in each second of a run, for --series.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/mutex.h"

namespace loadgen {

// Of requests that count.
struct SecondCounts {
  std::uint64_t started = 0;
  std::uint64_t ended = 0;  // that succeeded
  std::uint64_t failed = 0;
  std::uint64_t bytes = 0;                // of files, that moved in this second
  std::vector<std::int64_t> response_ns;  // as Tally::response_ns has them
};

// The thread of the load counts; the main thread takes away the seconds that are over. Each event
// has the second of its own moment, so it does not matter when they are taken. An event whose
// second was taken already counts in the first one that was not: nothing is lost.
class ThreadSeries {
 public:
  // These are for the thread of the load. The window begins at `start_ns`, a time of
  // base::now_ns(); all other moments are such times too.
  void begin(std::int64_t start_ns) EXCLUDES(mutex_);
  void start(std::int64_t moment_ns) EXCLUDES(mutex_);
  void end(std::int64_t moment_ns, std::int64_t response_ns) EXCLUDES(mutex_);
  void fail(std::int64_t moment_ns) EXCLUDES(mutex_);

  // Adds the response time of a request that fails, but is in the response times.
  void give_up(std::int64_t moment_ns, std::int64_t response_ns) EXCLUDES(mutex_);

  // Bytes of a file have come or were sent just now. They count if a request that counts is under
  // way.
  void move(std::uint64_t bytes) EXCLUDES(mutex_);

  // Any thread. Takes the seconds in front of second `end`, which counts from 0, and that were not
  // taken before. The last ones are missing if nothing happened in them. Requires: `end` is not
  // less than in the call before.
  std::deque<SecondCounts> take_before(std::size_t end) EXCLUDES(mutex_);

  // Any thread. The second behind the last one in which something has happened.
  std::size_t seconds() const EXCLUDES(mutex_);

 private:
  SecondCounts& at(std::int64_t moment_ns) REQUIRES(mutex_);

  std::int64_t under_way_ = 0;  // only for the thread of the load

  mutable base::Mutex mutex_;
  std::int64_t start_ns_ GUARDED_BY(mutex_) = 0;
  std::size_t taken_ GUARDED_BY(mutex_) = 0;          // so many seconds were taken
  std::deque<SecondCounts> kept_ GUARDED_BY(mutex_);  // those behind them
};

}  // namespace loadgen
