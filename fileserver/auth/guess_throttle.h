// Slows down whoever guesses passwords: a limit for the wrong passwords of each address.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "fileserver/auth/right_pairs.h"
#include "net/ip_address.h"
#include "wire/request.h"

namespace fileserver {

// Counts the wrong passwords of each address; the addresses of an IPv6 /64 count as one. One wrong
// password is forgiven every six seconds. While the limit is reached, no log-in from the address is
// allowed, whether its password is right or wrong. A repetition of a pair that was wrong before
// does not count, until all wrong passwords of the address are forgiven; of each address, the last
// ten pairs are known. Neither addresses nor passwords are stored, only hashes with a random key.
//
// A log-in whose pair was not right lately takes a place before the authserver is asked. The places
// that are taken and the wrong passwords of an address are together never more than the limit, so
// many guesses at once reach the authserver no more often than one after the other. Others wait for
// a place; right passwords give it back, and so does a repetition of a wrong pair. It takes a place
// because each costs the authserver a password hash: one address has as many hashes under way as
// the limit, and not more.
//
// The table of addresses has a fixed size. When it is full, a wrong password takes the entry of the
// address, among eight, that will be forgiven first. So whoever wants to be forgotten needs about
// as many guilty addresses as the table has entries, and nobody is locked out by others. A log-in
// that finds no free entry for its place goes on without one.
//
// SignUp has a throttle of its own, in which each account that was made counts like a wrong
// password. All of the above holds for it too.
//
// Any thread. A log-in with a pair that was right lately takes no lock, unless its address has an
// entry while some address is at its limit.
class GuessThrottle {
 public:
  struct Limits {
    int wrong_passwords = 10;  // for each address; 0: no limit
    int addresses = 65'536;    // how many have an entry, about 150 bytes each
    std::int64_t forgive_one_ns = 6 * base::kNsPerS;
    bool has_right_pairs = true;  // whether granted() is called; their table takes 512 KiB
  };
  using Clock = std::int64_t (*)();

  enum class Turn {
    kAsk,      // the authserver may be asked
    kTooMany,  // the address has sent too many wrong passwords
    kNoTurn,   // no place was free in time
  };

  // One log-in. It gives its place back at its end. The throttle must outlive it.
  class Attempt {
   public:
    ~Attempt();
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;

    Turn turn() const { return turn_; }

    // Whether the pair was right lately. False without a limit, as no pairs are known then.
    bool was_right_lately() const;

    // The authserver has said that the password is right, or that it is wrong, or it has not
    // answered in time. None is called if it said anything else. denied() returns whether it
    // counts, because the address has not sent this wrong pair before. Without an answer the pair
    // is not known as right any more, because its hash may be what takes so long. Requires: turn()
    // == kAsk.
    void granted();
    bool denied();
    void not_answered();

    // An account was made. Requires: turn() == kAsk.
    void made() { denied(); }

   private:
    friend class GuessThrottle;
    Attempt(GuessThrottle& throttle, std::uint64_t address, PairHash pair, Turn turn,
            bool has_place)
        : throttle_(throttle), address_(address), pair_(pair), turn_(turn), has_place_(has_place) {}

    GuessThrottle& throttle_;
    const std::uint64_t address_;
    const PairHash pair_;
    const Turn turn_;
    bool has_place_;
  };

  // `clock` returns nanoseconds; tests pass one of their own.
  explicit GuessThrottle(Limits limits, Clock clock = &base::now_ns);
  ~GuessThrottle();
  GuessThrottle(const GuessThrottle&) = delete;
  GuessThrottle& operator=(const GuessThrottle&) = delete;

  // Begins a log-in. May wait for a place, for `patience_ms` at most.
  Attempt begin(const net::IpAddress& from, wire::Credentials account, std::int64_t patience_ms);

 private:
  struct Waiter;
  struct Entry;
  struct Set;
  struct SetOwner {
    SetOwner() = default;
    ~SetOwner();
    std::atomic<Set*> set = nullptr;  // made with its first entry, never replaced
  };

  std::uint64_t hash_of(const net::IpAddress& address) const;
  PairHash hash_of(wire::Credentials account) const;
  base::Mutex& mutex_of(std::uint64_t address) const;
  bool may_be_blocked(std::uint64_t address) const;
  bool is_known(std::uint64_t address) const;
  Attempt begin_with_entry(std::uint64_t address, PairHash pair, std::int64_t patience_ms);
  Attempt wait_for_place(Entry& entry, std::uint64_t address, PairHash pair,
                         std::int64_t patience_ms, base::Mutex& mutex) REQUIRES(mutex);
  bool finish(std::uint64_t address, bool has_place, PairHash wrong_pair);
  Entry* find(std::uint64_t address, std::int64_t now_ns) const;
  Entry* make(std::uint64_t address, std::int64_t now_ns, bool may_evict);
  void count(Entry& entry, PairHash pair, std::int64_t now_ns);
  void call_waiting(Entry& entry, std::int64_t now_ns) const;
  bool is_at_limit(const Entry& entry, std::int64_t now_ns) const;
  bool has_place(const Entry& entry, std::int64_t now_ns) const;

  const Limits limits_;
  const Clock clock_;
  std::array<unsigned char, 16> key_;  // random, made at start; never leaves the process

  RightPairs right_pairs_;

  // When the last address that reached its limit may log in again; 0: none ever reached it.
  // Relaxed: whoever misses a change is as one who came a moment earlier.
  std::atomic<std::int64_t> blocked_until_ns_ = 0;

  // The entries of a set are guarded by the mutex of the set's number.
  static constexpr std::size_t kMutexes = 64;
  mutable std::array<base::Mutex, kMutexes> mutexes_;
  std::vector<SetOwner> sets_;
};

}  // namespace fileserver
