// Logs when another server cannot be reached any more, and when it is back.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/allowance.h"
#include "base/clock.h"

namespace base {

// Watches one server that many threads or processes use. They report what happens to their
// requests. The first failure logs a warning with its reason, and the first success after it logs
// how long the outage took:
//
//   warning the store is unreachable at=127.0.0.1:6379 reason="Connection refused"
//   info the store is reachable again at=127.0.0.1:6379 outage_s=12.3
//
// A server that comes and goes does not fill the log: five outages are logged at once, and then one
// more every 12 seconds. The next warning says how many outages were left out. An outage that lasts
// is logged in any case: its warning comes with the first failure for which there is room.
//
// Threads: any. It has no pointer to data and takes no lock, so that it can be a serve::Shared,
// which the processes of a server have in common; then only one of them logs.
class Outage {
 public:
  // What the log calls the server: a name such as "the store", and its address or path. And what
  // it says of it at the beginning and at the end of the outage.
  struct Subject {
    std::string_view name;
    std::string_view where;
    std::string_view begins = "is unreachable";
    std::string_view ends = "is reachable again";
  };
  using Clock = std::int64_t (*)();

  // `clock` returns nanoseconds; tests pass one of their own.
  explicit Outage(Clock clock = &now_ns) : clock_(clock) {}

  // Whether the last reports were failures. One relaxed load.
  bool is_on() const { return state_.load(std::memory_order_relaxed) != kReachable; }

  // A request failed because the server could not be reached or did not answer. It was begun at
  // `began_ns`; a failure is ignored if the request is older than the end of the last outage.
  // Returns whether a line was logged.
  bool note_failure(const Subject& subject, std::string_view reason, std::int64_t began_ns);

  // A request was answered. Costs one relaxed load unless there is an outage. Returns whether a
  // line was logged.
  bool note_success(const Subject& subject) { return is_on() && end(subject); }

 private:
  static constexpr std::int64_t kReachable = 0;

  bool end(const Subject& subject);

  const Clock clock_;

  // kReachable, or twice the time of the first failure; the lowest bit says that it was logged.
  std::atomic<std::int64_t> state_ = kReachable;
  std::atomic<std::int64_t> ended_ns_ = INT64_MIN;  // the end of the last outage
  std::atomic<std::uint64_t> left_out_ = 0;         // relaxed: only logged
  Allowance allowance_{5, 12 * kNsPerS};
};

}  // namespace base
