// Slows down whoever guesses passwords: a limit for each user of an address, and one for the
// address.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "fileserver/auth/guess_counts.h"
#include "fileserver/auth/right_pairs.h"
#include "net/ip_address.h"
#include "wire/request.h"

namespace fileserver {

// Counts the wrong passwords for each user that an address names, and ten times as many for the
// address, whatever the users are; the addresses of an IPv6 /64 count as one. One wrong password of
// a user is forgiven every six seconds, one of an address every second. While a limit is reached,
// no log-in that counts for it is allowed, whether its password is right or wrong. So a user is not
// locked out by those who share the address, until they have sent a hundred wrong passwords, and
// whoever makes up users has a limit all the same. A repetition of a wrong pair does not count
// (guess_counts.h). Neither addresses nor users nor passwords are stored, only hashes with a random
// key.
//
// A log-in takes a place of its user and then one of its address before the authserver is asked.
// Each costs the authserver a password hash, so a user and an address have as many hashes under way
// as their limits, and not more. A pair that was right lately from the same address costs no hash
// and takes no place of the address. While somebody guesses it waits for one of its user: otherwise
// many guesses at once could tell it from the others that wait. It gives that back before the
// authserver is asked.
//
// SignUp has a throttle of its own, in which each account that was made counts like a wrong
// password, for the address alone.
//
// Any thread, and any process with `forget_places_after_ns`. A log-in with a pair that was right
// lately takes no lock, unless its user has an entry, or its address has one while some address is
// at its limit.
class GuessThrottle {
 public:
  struct Limits {
    int wrong_passwords = 10;  // 0: no limit
    int addresses = 65'536;    // how many have an entry; and as many users
    std::int64_t forgive_one_ns = 6 * base::kNsPerS;
    bool has_users = true;  // else the limit and its time are those of the address

    // 0: one process counts; else processes that are forked later count together. Then it is at
    // least as long as a log-in takes with its waits (guess_counts.h).
    std::int64_t forget_places_after_ns = 0;
  };
  static constexpr int kUsersWorth = 10;  // limits of a user that an address has
  static constexpr std::int64_t kAddressForgiveOneNs = base::kNsPerS;

  using Clock = GuessCounts::Clock;
  using Admission = GuessCounts::Admission;

  // One log-in. It gives its places back at its end. The throttle must outlive it.
  class Attempt {
   public:
    Attempt(Attempt&&) = default;
    Attempt& operator=(Attempt&&) = delete;

    Admission admission() const { return admission_; }

    // Whether the pair was right lately, from this address, when the attempt had its places. False
    // without a limit, as no pairs are known then.
    bool was_right_lately() const { return was_right_lately_; }

    // The authserver has said that the password is right, or that it is wrong, or it has not
    // answered in time. None is called if it said anything else. denied() returns whether it
    // counts, because this wrong pair was not sent before. Without an answer the pair is not known
    // as right any more, because its hash may be what takes so long. Requires: admission() == kAsk.
    void granted();
    bool denied();
    void not_answered();

    // An account was made. Requires: admission() == kAsk.
    void made() { denied(); }

   private:
    friend class GuessThrottle;
    using Place = std::optional<GuessCounts::Place>;
    Attempt(GuessThrottle& throttle, PairHash pair, Admission admission, Place user, Place address)
        : throttle_(throttle),
          pair_(pair),
          admission_(admission),
          user_(std::move(user)),
          address_(std::move(address)) {}

    GuessThrottle& throttle_;
    const PairHash pair_;  // 0: there is no limit
    const Admission admission_;
    bool was_right_lately_ = false;
    Place user_;
    Place address_;
  };

  // `clock` returns nanoseconds; tests pass one of their own.
  explicit GuessThrottle(Limits limits, Clock clock = &base::now_ns);
  ~GuessThrottle();
  GuessThrottle(const GuessThrottle&) = delete;
  GuessThrottle& operator=(const GuessThrottle&) = delete;

  // Begins a log-in. May wait for its places, for `patience_ms` at most.
  Attempt begin(const net::IpAddress& from, wire::Credentials account, std::int64_t patience_ms);

 private:
  struct Hashes {
    std::uint64_t address;
    std::uint64_t user;  // of the address
    PairHash pair;       // of the user and the password, at the address
  };

  Hashes hashes_of(const net::IpAddress& from, wire::Credentials account) const;
  Attempt begin_of_address(const Hashes& hashes, std::int64_t patience_ms);
  Attempt begin_known(const Hashes& hashes, std::int64_t patience_ms);
  Attempt begin_guess(const Hashes& hashes, std::int64_t patience_ms);

  const Limits limits_;
  const Clock clock_;
  std::array<unsigned char, 16> key_;  // random, made at start; only forked processes get it

  RightPairs right_pairs_;
  GuessCounts users_;
  GuessCounts addresses_;
};

}  // namespace fileserver
