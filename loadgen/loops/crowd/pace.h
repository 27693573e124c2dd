// When a user reads, and when it was too slow: arithmetic without a clock.
#pragma once

#include <cstdint>

namespace loadgen::crowd {

// All times are in nanoseconds since the user sent the name of the file. So a rate is bytes / time
// from sending the name to the last byte.
//
// Immutable once built.
class Pace {
 public:
  // A user reads what is due about every two seconds, but more often where that is more than
  // `most_bytes`.
  // Requires: rate_bytes_s > 0, 1 <= least_percent < 100, most_bytes > 0.
  Pace(double rate_bytes_s, int least_percent, std::uint64_t most_bytes);

  // How many bytes the user may have read by now. Never over `size_bytes`.
  std::uint64_t due_bytes(std::int64_t elapsed_ns, std::uint64_t size_bytes) const;

  // The first moment at which so many bytes are due.
  std::int64_t due_ns(std::uint64_t bytes) const;

  // When a user that has read `got_bytes` reads again. Requires: got_bytes < size_bytes.
  std::int64_t next_read_ns(std::uint64_t got_bytes, std::uint64_t size_bytes) const;

  // Moments to read are rounded up to multiples of this, so that users are woken together: a
  // thousandth of the time of a fetch, from 1 to 20 ms.
  std::int64_t grain_ms(std::uint64_t size_bytes) const;

  // Whether times of a file of this size can be told at all: its slowest fetch ends within a year.
  // Requires of all that follow here and of due_ns(): it can.
  bool can_time(std::uint64_t size_bytes) const;

  // A fetch that takes longer has less than the least rate.
  std::int64_t limit_ns(std::uint64_t size_bytes) const;

  // By how much a fetch may take longer than at the pace before it was too slow.
  std::int64_t slack_ns(std::uint64_t size_bytes) const {
    return limit_ns(size_bytes) - due_ns(size_bytes);
  }

  // The rate of a fetch relative to the one that the user wants, minus 1: 0 is exact, -0.1 is 10%
  // too slow. Requires: took_ns > 0.
  double error_of(std::uint64_t size_bytes, std::int64_t took_ns) const;

 private:
  const double rate_bytes_s_;
  const double least_bytes_s_;
  const std::uint64_t portion_bytes_;
};

}  // namespace loadgen::crowd
