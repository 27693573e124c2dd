// Time: the clock, deadlines and sleeping.
#pragma once

#include <cstdint>

namespace base {

// The monotonic clock, in nanoseconds since an arbitrary moment. Any thread; costs about 25 ns.
std::int64_t now_ns();

// The time of day, in seconds since 1970. It may jump, so it is only used to report when something
// happened.
double unix_time_s();

// The CPU time that the calling thread has used, in nanoseconds. Costs a system call.
std::int64_t thread_cpu_ns();

// Sleeps, for a caller that has no event to wait for. A signal may end the sleep early.
void pause_ms(int ms);

inline constexpr std::int64_t kNsPerMs = 1'000'000;
inline constexpr std::int64_t kNsPerS = 1'000'000'000;

// The moment at which waiting ends. A deadline of never() does not pass.
class Deadline {
 public:
  static Deadline never() { return Deadline(INT64_MAX); }
  static Deadline in_ms(std::int64_t ms) { return Deadline(now_ns() + ms * kNsPerMs); }

  // The deadline that much earlier than this one. Requires: !is_never().
  Deadline earlier_by_ms(std::int64_t ms) const { return Deadline(at_ns_ - ms * kNsPerMs); }

  bool is_never() const { return at_ns_ == INT64_MAX; }
  bool has_passed() const { return !is_never() && now_ns() >= at_ns_; }

  // The time left, as poll() takes it: -1 for never, 0 if the deadline has passed. It is rounded
  // up, so that a loop does not spin during the last millisecond.
  int left_ms() const;

  // On the clock of now_ns(); INT64_MAX for never.
  std::int64_t at_ns() const { return at_ns_; }

 private:
  explicit Deadline(std::int64_t at_ns) : at_ns_(at_ns) {}
  std::int64_t at_ns_;
};

}  // namespace base
