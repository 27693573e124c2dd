// Counts of wrong passwords, each with a limit: those of an address, or of a user at an address.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/process_mutex.h"
#include "fileserver/auth/right_pairs.h"
#include "serve/shared_memory.h"

namespace fileserver {

// Each count has a key, which is a keyed hash of whatever it belongs to. One wrong password is
// forgiven every `forgive_one_ns`. A repetition of a pair that was wrong before does not count; of
// each key, the last ten pairs are known. They are forgotten once nothing wrong came for as long
// as it takes to forgive all that the limit allows.
//
// Whoever wants to send a password takes a place before it is checked. The places that are taken
// and the wrong passwords of a key are together never more than the limit, so many guesses at once
// are checked no more often than one after the other. Others wait for a place, in the order in
// which they came. A right password gives its place back, and so does a repetition of a wrong pair.
//
// The table has a fixed size. When it is full, a wrong password takes the entry of the key, among
// eight, that will be forgiven first, and a place is not taken: its password is checked all the
// same. Nobody is locked out by a full table.
//
// With `forget_places_after_ns`, the processes that are forked later count together. A process that
// is killed may not have given its place back. So a place is forgotten, at the earliest after that
// time and at the latest after twice that time. Whoever waits for a place looks every 10 ms, and
// those that wait have no order.
//
// Any thread; and any process, with that time.
class GuessCounts {
 public:
  struct Limits {
    int most;
    int entries;  // about 160 bytes each
    std::int64_t forgive_one_ns;
    std::int64_t forget_places_after_ns = 0;  // 0: one process counts, and no place is forgotten
  };
  using Clock = std::int64_t (*)();

  enum class Admission {
    kAsk,      // the password may be checked
    kTooMany,  // the key has sent too many wrong passwords
    kNoPlace,  // no place was free in time
  };

  // The period in which a place was taken; nothing if none was.
  using Taken = std::optional<std::int64_t>;

  // The admission of one password. Gives its place back at its end, if it has one. The table must
  // outlive it.
  class Place {
   public:
    Place(GuessCounts& counts, std::uint64_t key, Admission admission, Taken taken = {})
        : counts_(&counts), key_(key), admission_(admission), taken_(taken) {}
    ~Place() {
      if (taken_) counts_->finish(key_, taken_, 0);
    }
    Place(Place&& other) noexcept
        : counts_(other.counts_),
          key_(other.key_),
          admission_(other.admission_),
          taken_(std::exchange(other.taken_, {})) {}
    Place& operator=(Place&&) = delete;

    Admission admission() const { return admission_; }

    // The password was wrong. Returns whether it counts, because the pair was not wrong before.
    bool count_wrong(PairHash pair) {
      return counts_->finish(key_, std::exchange(taken_, {}), pair);
    }

   private:
    GuessCounts* counts_;
    std::uint64_t key_;
    Admission admission_;
    Taken taken_;
  };

  // `clock` returns nanoseconds.
  GuessCounts(Limits limits, Clock clock);

  // Waits for a place until the deadline. Requires: `key` is not 0.
  Place take(std::uint64_t key, base::Deadline deadline);

  Place without_place(std::uint64_t key) { return {*this, key, Admission::kAsk}; }

  // For a password that is probably right: takes no place, but at the limit it is kTooMany. Takes
  // no lock, unless some key has reached the limit lately and this key has an entry.
  Place pass(std::uint64_t key);

  // Whether a count or a place of this key is known. Takes no lock, so another thread or process
  // may be about to change it.
  bool has_entry(std::uint64_t key) const;

 private:
  static constexpr std::size_t kMutexes = 64;

  class PlacesTaken;
  struct Waiter;
  struct Entry;
  struct Set;
  struct State;

  bool is_of_processes() const { return limits_.forget_places_after_ns != 0; }
  std::int64_t period_of(std::int64_t now_ns) const {
    return is_of_processes() ? now_ns / limits_.forget_places_after_ns : 0;
  }

  base::Mutex& mutex_of(std::uint64_t key) const;
  base::ProcessMutex* shared_mutex_of(std::uint64_t key) const;
  bool may_be_blocked(std::uint64_t key) const;
  std::optional<Place> take_or_wait(std::uint64_t key, base::Deadline deadline);
  Place wait_for_place(Entry& entry, std::uint64_t key, base::Deadline deadline, base::Mutex& mutex)
      REQUIRES(mutex);
  bool finish(std::uint64_t key, Taken taken, PairHash wrong_pair);
  Entry* find(std::uint64_t key, std::int64_t now_ns) const;
  Entry* make(std::uint64_t key, std::int64_t now_ns, bool may_evict);
  void count(Entry& entry, PairHash pair, std::int64_t now_ns);
  void call_waiting(Entry& entry, std::int64_t now_ns) const;
  bool is_at_limit(const Entry& entry, std::int64_t now_ns) const;
  bool has_place(const Entry& entry, std::int64_t now_ns) const;

  const Limits limits_;
  const Clock clock_;

  // The entries of a set are guarded by the mutex of the set's number. If processes count together,
  // they are guarded by the one in `state_` too, which is locked second.
  mutable std::array<base::Mutex, kMutexes> mutexes_;
  const serve::Shared<State> state_;
  const serve::SharedZeros<Set> sets_;
};

}  // namespace fileserver
