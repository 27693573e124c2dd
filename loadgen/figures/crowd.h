// What one thread counts, and the sum of all threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "loadgen/loops/crowd/stability.h"

namespace loadgen::crowd {

// A user that left.
struct DropOut {
  std::int64_t at_ns = 0;  // after the start of the run
  std::string cause;       // "too-slow", or the word of a Cause
  std::string why;         // what the system or the server said; may be empty
  bool was_in_first_fetch = false;
};

// Bytes that had arrived and that the user had not read yet, in samples of users that read a file.
struct WaitingBytes {
  std::uint64_t samples = 0;
  std::uint64_t sum = 0;
  std::uint64_t most = 0;
};

// Written by one thread. Read by others after it was joined.
struct Tally {
  std::vector<DropOut> drop_outs;

  // Of each user that holds: how far the fetch with the largest error was from the rate, 0 or more.
  // Users without a fetch are not in it.
  std::vector<double> rate_errors;

  std::uint64_t fetches = 0;
  std::uint64_t bytes = 0;
  std::uint64_t file_bytes = 0;            // the largest file
  std::uint64_t receive_buffer_bytes = 0;  // as the system reports it
  std::uint64_t wakeups = 0;               // times that the thread stopped waiting
  std::uint64_t useful_reads = 0;          // that got bytes of a file
  std::uint64_t empty_reads = 0;           // that found none
  std::uint64_t overflows = 0;
  std::int64_t most_late_ms = 0;  // of loadgen itself: a timer that was due
  WaitingBytes waiting;

  void add(const Tally& other);
};

// What the main thread sees of a thread that runs. No other data depends on these counters.
struct LiveCounts {
  std::atomic<int> started = 0;
  std::atomic<int> dropped = 0;
  std::atomic<int> fetched = 0;           // users that hold and have ended a fetch
  std::atomic<bool> has_stopped = false;  // it ended before it was told to

  // Requires: called by one thread at a time for a thread that may go on meanwhile, so the parts
  // may be of different moments.
  Standing standing() const;
};

}  // namespace loadgen::crowd
