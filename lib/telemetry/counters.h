// What a server counts while it works. Each worker counts in a slot of its own; a reader adds them
// up.
//
// A worker is a thread or a process that serves connections. It alone writes to its slot, with
// plain loads and stores, so counting takes no lock and no locked instruction. A slot is used by
// one worker after another and is never reset, so every sum only grows. The slots are in shared
// memory. So they survive a process that is killed.
//
// Without a Lease, nothing is counted: each hook is one branch.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/clock.h"
#include "base/error.h"
#include "wire/error_word.h"

namespace telemetry {

// kLogIn is `get:` on the fileserver and `auth:` on the authserver. kFile is also a
// listing, and PROPFIND. kChange is DELETE, MKCOL and PROPPATCH. kOther is a line that is no
// request, or a request that ended in an exception.
enum class Verb : std::size_t { kNew, kLogIn, kFile, kPut, kChange, kPing, kOther };
inline constexpr std::size_t kVerbs = 7;

// Nothing stands for OK.
using Outcome = std::optional<base::ErrorCode>;

// Whether the answer reached the kernel as a whole. kCut: the connection ended before that, or
// before the request was complete. Then the outcome does not count.
enum class Ending { kAnswered, kCut };

// The columns of a verb: OK, the errors, cut.
inline constexpr std::size_t kOutcomes = 2 + wire::kErrorCodes.size();

// Events that are counted.
enum class Count : std::size_t {
  kSentBytes,            // all bytes that the kernel took, those of short replies too
  kReceivedBytes,        // all bytes of requests and their bodies
  kConnectionsAccepted,  // and served
  kConnectionsRefused,   // answered `busy`
  kTransfersAborted,     // a sized reply that was begun and not sent to its end
  kLogInsThrottled,
  kMemoHits,
  kMemoMisses,
  kSendsFromMemory,  // of a file, or of a range of one
  kSendsFromDisk,
  kHandshakesMade,     // of TLS
  kHandshakesPlain,    // the peer spoke HTTP without TLS
  kHandshakesFailed,   // the peer spoke no TLS that we speak, or broke it
  kHandshakesLate,     // not made in time
  kHandshakesGone,     // the peer left before it was made
  kHandshakesRefused,  // too many were under way
};
inline constexpr std::size_t kCounts = 16;

// What takes time. The first six are requests, in the order of Verb.
enum class Timed : std::size_t {
  kNew,
  kLogIn,
  kFile,
  kPut,
  kChange,
  kPing,
  kAuthserver,  // a request to the authserver, with its answer
  kStoreCreate,
  kStoreFind,
  kStorePing,
};
inline constexpr std::size_t kTimed = 10;

// What goes up and down.
enum class Level : std::size_t { kConnectionsOpen };
inline constexpr std::size_t kLevels = 1;

// The upper bounds of the buckets of all histograms. One more bucket takes the rest.
inline constexpr std::array<std::int64_t, 15> kBoundsNs{
    100'000,     250'000,     500'000,       1'000'000,     2'500'000,
    5'000'000,   10'000'000,  25'000'000,    50'000'000,    100'000'000,
    250'000'000, 500'000'000, 1'000'000'000, 2'500'000'000, 5'000'000'000};
inline constexpr std::size_t kBuckets = kBoundsNs.size() + 1;

// Where each counter is in a slot: requests, then counts, then histograms. A histogram is its
// buckets, which are not cumulative, and the sum of the times in nanoseconds.
inline constexpr std::size_t kFirstCount = kVerbs * kOutcomes;
inline constexpr std::size_t kFirstHistogram = kFirstCount + kCounts;
inline constexpr std::size_t kHistogramSize = kBuckets + 1;
inline constexpr std::size_t kCounters = kFirstHistogram + kTimed * kHistogramSize;

constexpr std::size_t index_of(Verb verb, Outcome outcome, Ending ending = Ending::kAnswered) {
  const std::size_t answered = outcome ? 1 + static_cast<std::size_t>(*outcome) : 0;
  const std::size_t column = ending == Ending::kCut ? kOutcomes - 1 : answered;
  return static_cast<std::size_t>(verb) * kOutcomes + column;
}
constexpr std::size_t index_of(Count count) {
  return kFirstCount + static_cast<std::size_t>(count);
}
constexpr std::size_t index_of(Timed timed) {
  return kFirstHistogram + static_cast<std::size_t>(timed) * kHistogramSize;
}

// The counters of one worker. Slots begin on cache lines of their own, so that workers do not slow
// each other down. Memory that is all zeros is a valid slot that belongs to nobody.
struct alignas(64) Slot {
  std::atomic<std::int32_t> owner;  // the process id of the worker; 0: the slot is free
  bool is_shared;                   // by all workers for which no slot is left
  std::array<std::atomic<std::int64_t>, kLevels> levels;
  std::array<std::atomic<std::uint64_t>, kCounters> counters;

  // Relaxed: each counter stands alone, and only its worker writes to it.
  void add(std::size_t index, std::uint64_t by) { add_to(counters[index], by); }
  void raise(Level level, std::int64_t by) { add_to(levels[static_cast<std::size_t>(level)], by); }

 private:
  template <typename Number>
  void add_to(std::atomic<Number>& number, Number by) const {
    if (is_shared) {
      number.fetch_add(by, std::memory_order_relaxed);
    } else {
      number.store(number.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    }
  }
};

// The slot of this thread; null while it has no Lease. It is a variable of the thread, because the
// hooks are in every layer, and most of these do not know what they are used for.
inline thread_local constinit Slot* my_slot = nullptr;

inline bool is_on() { return my_slot != nullptr; }

inline void add(Count count, std::uint64_t by = 1) {
  if (my_slot != nullptr) my_slot->add(index_of(count), by);
}

inline void count_request(Verb verb, Outcome outcome, Ending ending = Ending::kAnswered) {
  if (my_slot != nullptr) my_slot->add(index_of(verb, outcome, ending), 1);
}

// Adds one time to a histogram. Requires: is_on().
void record(Timed timed, std::int64_t duration_ns);

// Counts a request and its time, or each of several that came together. Without telemetry, it does
// not read the clock. One thread.
class RequestTimer {
 public:
  RequestTimer() : start_ns_(is_on() ? base::now_ns() : 0) {}

  // Called once for each request, when it has been answered.
  void count(Verb verb, Outcome outcome, Ending ending = Ending::kAnswered) const {
    if (is_on()) count_and_record(verb, outcome, ending);
  }

 private:
  void count_and_record(Verb verb, Outcome outcome, Ending ending) const;

  const std::int64_t start_ns_;
};

// Records the time from its construction to its end. One thread.
class Stopwatch {
 public:
  explicit Stopwatch(Timed timed) : timed_(timed), start_ns_(is_on() ? base::now_ns() : 0) {}
  ~Stopwatch() {
    if (is_on()) record(timed_, base::now_ns() - start_ns_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  const Timed timed_;
  const std::int64_t start_ns_;
};

// Raises a level by one while it lives. One thread.
class Raised {
 public:
  explicit Raised(Level level) : level_(level) {
    if (my_slot != nullptr) my_slot->raise(level_, 1);
  }
  ~Raised() {
    if (my_slot != nullptr) my_slot->raise(level_, -1);
  }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;

 private:
  const Level level_;
};

}  // namespace telemetry
