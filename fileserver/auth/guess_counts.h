// Counts of wrong passwords, each with a limit: those of an address, or of a user at an address.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "fileserver/auth/right_pairs.h"

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
// same. Nobody is locked out by others.
//
// Any thread.
class GuessCounts {
 public:
  struct Limits {
    int most;
    int entries;  // about 160 bytes each
    std::int64_t forgive_one_ns;
  };
  using Clock = std::int64_t (*)();

  enum class Admission {
    kAsk,      // the password may be checked
    kTooMany,  // the key has sent too many wrong passwords
    kNoPlace,  // no place was free in time
  };

  // The admission of one password. Gives its place back at its end, if it has one. The table must
  // outlive it.
  class Place {
   public:
    Place(GuessCounts& counts, std::uint64_t key, Admission admission, bool is_taken)
        : counts_(&counts), key_(key), admission_(admission), is_taken_(is_taken) {}
    ~Place() {
      if (is_taken_) counts_->finish(key_, true, 0);
    }
    Place(Place&& other) noexcept
        : counts_(other.counts_),
          key_(other.key_),
          admission_(other.admission_),
          is_taken_(std::exchange(other.is_taken_, false)) {}
    Place& operator=(Place&&) = delete;

    Admission admission() const { return admission_; }

    // The password was wrong. Returns whether it counts, because the pair was not wrong before.
    bool count_wrong(PairHash pair) {
      return counts_->finish(key_, std::exchange(is_taken_, false), pair);
    }

   private:
    GuessCounts* counts_;
    std::uint64_t key_;
    Admission admission_;
    bool is_taken_;
  };

  // `clock` returns nanoseconds.
  GuessCounts(Limits limits, Clock clock);

  // Waits for a place until the deadline. Requires: `key` is not 0.
  Place take(std::uint64_t key, base::Deadline deadline);

  Place without_place(std::uint64_t key) { return {*this, key, Admission::kAsk, false}; }

  // For a password that is probably right: takes no place, but at the limit it is kTooMany. Takes
  // no lock, unless some key has reached the limit lately and this key has an entry.
  Place pass(std::uint64_t key);

  // Whether a count or a place of this key is known. Takes no lock, so another thread may be about
  // to change it.
  bool has_entry(std::uint64_t key) const;

 private:
  struct Waiter;
  struct Entry;
  struct Set;
  struct SetOwner {
    SetOwner() = default;
    ~SetOwner();
    std::atomic<Set*> set = nullptr;  // made with its first entry, never replaced
  };

  base::Mutex& mutex_of(std::uint64_t key) const;
  bool may_be_blocked(std::uint64_t key) const;
  Place wait_for_place(Entry& entry, std::uint64_t key, base::Deadline deadline, base::Mutex& mutex)
      REQUIRES(mutex);
  bool finish(std::uint64_t key, bool has_place, PairHash wrong_pair);
  Entry* find(std::uint64_t key, std::int64_t now_ns) const;
  Entry* make(std::uint64_t key, std::int64_t now_ns, bool may_evict);
  void count(Entry& entry, PairHash pair, std::int64_t now_ns);
  void call_waiting(Entry& entry, std::int64_t now_ns) const;
  bool is_at_limit(const Entry& entry, std::int64_t now_ns) const;
  bool has_place(const Entry& entry, std::int64_t now_ns) const;

  const Limits limits_;
  const Clock clock_;

  // When the last key that reached the limit may go on; 0: none ever reached it. Relaxed: whoever
  // misses a change is as one who came a moment earlier.
  std::atomic<std::int64_t> blocked_until_ns_ = 0;

  // The entries of a set are guarded by the mutex of the set's number.
  static constexpr std::size_t kMutexes = 64;
  mutable std::array<base::Mutex, kMutexes> mutexes_;
  std::vector<SetOwner> sets_;
};

}  // namespace fileserver
