// How long a user pauses before a request, from the number of --seed.
#pragma once

#include <cstdint>

#include "loadgen/config/think.h"

namespace loadgen {

// The pauses before the requests of many users. Two runs with the same seed draw the same.
//
// Immutable once built.
class Think {
 public:
  // `users` is how many users there are, in the whole load.
  Think(const ThinkTime& time, int seed, int users);

  // If not, there are no pauses, and nothing else is asked.
  bool makes_pauses() const { return kind_ != ThinkKind::kNone; }

  // The pause of `user`, who counts from 0, before its request `number`, which counts from 0 over
  // all phases of the run.
  std::int64_t next_ns(int user, std::int64_t number) const;

  // The same where a phase begins, which all users begin together. Fixed pauses are shorter here,
  // for each user by another part. Otherwise the users would stay in step. Pauses that are drawn
  // need no such thing: what is left of one is like a whole one.
  std::int64_t first_ns(int user, std::int64_t number) const;

 private:
  ThinkKind kind_;
  double mean_ns_;
  int seed_;
  int users_;
};

}  // namespace loadgen
