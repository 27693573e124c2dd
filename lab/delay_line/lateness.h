// How late packets came out of the link, because the program did not run when they were due.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace delay_line {

// Counts times in steps of about 4%, from 10 us on; below that all are one step.
class Lateness {
 public:
  void add(std::int64_t late_ns);

  std::uint64_t count() const { return count_; }
  std::int64_t max_ns() const { return max_ns_; }

  // What this share of them does not exceed, rounded up to the end of its step; 0 without any.
  std::int64_t at_share_ns(double share) const;

 private:
  static constexpr std::size_t kSteps = 400;  // up to a minute
  static std::size_t step_of(std::int64_t ns);

  std::array<std::uint64_t, kSteps> steps_{};
  std::uint64_t count_ = 0;
  std::int64_t max_ns_ = 0;
};

}  // namespace delay_line
