// Limits how many password hashes are computed at the same time, over all threads and processes.
// Each hash takes 19 MiB and a core.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/process_mutex.h"

namespace authserver {

// Any thread or process; lies in shared memory.
//
// A lane is the right to compute one hash. Requests get the lanes in the order in which they came.
// There is one exception. While the hash of a credential is computed, other requests with the same
// credential let those behind them pass, because they may find the result in the memo afterwards.
//
// A process that dies leaves its lanes and its places in the queue. A waiting request notices that
// in a tenth of a second or less.
class HashLanes {
 public:
  static constexpr std::size_t kMostLanes = 64;

  // So many requests may wait or compute at once. A further one is not granted a turn.
  static constexpr std::size_t kMostRequests = 8 * 1024;

  // The right to compute one hash while the turn lives. Belongs to the thread that made it.
  class Turn {
   public:
    // Waits for a lane until the deadline, a time of base::now_ns(). Turns with the same number in
    // `credential` are never granted at the same time. `lanes` must outlive the turn.
    Turn(HashLanes& lanes, std::optional<std::uint64_t> credential, std::int64_t deadline_ns)
        : lanes_(lanes), index_(lanes.wait_for_lane(credential, deadline_ns)) {}
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // False if the deadline passed first, or if too many requests wait. Then nothing may be
    // computed.
    bool is_granted() const { return index_.has_value(); }

   private:
    HashLanes& lanes_;
    const std::optional<std::size_t> index_;
  };

  // `count` is how many hashes may be computed at once. Requires: 1 to kMostLanes.
  explicit HashLanes(std::size_t count) : count_(count) {}

  // How many requests have a lane now, and how many wait for one.
  std::size_t computing() const { return computing_.load(std::memory_order_relaxed); }
  std::size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  // A futex, so it has 32 bits.
  enum class State : std::uint32_t { kFree, kWaiting, kComputing };

  // Where one request waits and then computes. All but `state` is protected by mutex_.
  struct Request {
    base::ProcessMutex owner;  // held by the request, so that its death shows
    std::atomic<State> state = State::kFree;
    std::uint64_t ticket = 0;
    std::optional<std::uint64_t> credential;
  };

  // Holds mutex_ while it lives. Repairs what a process that died with the mutex left.
  class Guard;

  // The index of the request that has a lane now. Nothing if the deadline passed first.
  std::optional<std::size_t> wait_for_lane(std::optional<std::uint64_t> credential,
                                           std::int64_t deadline_ns);

  // All below require mutex_.
  std::optional<std::size_t> enter(std::optional<std::uint64_t> credential);
  void leave(Request& request);
  void hand_out_lanes();
  void free_lanes_of_the_dead();
  void repair();
  void grant(Request& request);
  bool is_waiting(std::uint64_t ticket) const;
  bool is_computed(const std::optional<std::uint64_t>& credential) const;
  static bool is_abandoned(Request& request);

  Request& request_of(std::uint64_t ticket) { return requests_[ticket % kMostRequests]; }
  const Request& request_of(std::uint64_t ticket) const {
    return requests_[ticket % kMostRequests];
  }

  const std::size_t count_;
  base::ProcessMutex mutex_;
  std::uint64_t first_ticket_ = 0;  // none before it waits
  std::uint64_t next_ticket_ = 0;
  std::array<std::uint64_t, kMostLanes> computed_tickets_{};  // the first computing_ are used
  std::atomic<std::size_t> computing_ = 0;                    // both are changed under mutex_ only
  std::atomic<std::size_t> waiting_ = 0;
  std::array<Request, kMostRequests> requests_;
};

}  // namespace authserver
