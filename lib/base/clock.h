// The one clock: monotonic, in nanoseconds since some fixed moment.
#pragma once

#include <cstdint>

namespace base {

// Any thread; about 25 ns.
std::int64_t now_ns();

// The time of day, in seconds since 1970: only for telling people and other programs when something
// was.
double unix_time_s();

// Sleeps where there is no event to wait for. A signal may end it early.
void pause_ms(int ms);

inline constexpr std::int64_t kNsPerMs = 1'000'000;
inline constexpr std::int64_t kNsPerS = 1'000'000'000;

// A moment after which waiting ends; `never` for no such moment.
class Deadline {
 public:
  static Deadline never() { return Deadline(INT64_MAX); }
  static Deadline in_ms(std::int64_t ms) { return Deadline(now_ns() + ms * kNsPerMs); }

  bool is_never() const { return at_ns_ == INT64_MAX; }
  bool has_passed() const { return !is_never() && now_ns() >= at_ns_; }

  // What poll() wants: -1 for never, else the time left, rounded up so that nobody spins through
  // the last one.
  int left_ms() const;

 private:
  explicit Deadline(std::int64_t at_ns) : at_ns_(at_ns) {}
  std::int64_t at_ns_;
};

}  // namespace base
