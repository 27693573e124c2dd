// How many of a crowd ask the authserver at one moment, each on a connection of its own.
#pragma once

#include <cstddef>
#include <deque>

#include "base/clock.h"
#include "base/mutex.h"

namespace fileserver {

// Any thread and any context. Places are given in the order in which they were asked for.
class AskingPlaces {
 public:
  // With the connections of some loops it is below the 128 that a fileserver keeps.
  static constexpr std::size_t kMost = 120;

  // A place, from its construction to its end. `places` must outlive it.
  class Place {
   public:
    // Waits for a place, but not longer than until `take_by`. Requires: !take_by.is_never().
    Place(AskingPlaces& places, base::Deadline take_by)
        : places_(places), is_taken_(places.take(take_by, has_waited_)) {}
    ~Place() {
      if (is_taken_) places_.give_back();
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    bool is_taken() const { return is_taken_; }
    bool has_waited() const { return has_waited_; }

   private:
    AskingPlaces& places_;
    bool has_waited_ = false;
    const bool is_taken_;
  };

 private:
  struct Waiter {
    bool has_place = false;
    base::Condition given = {};
  };

  bool take(base::Deadline take_by, bool& has_waited) EXCLUDES(mutex_);
  void give_back() EXCLUDES(mutex_);

  base::Mutex mutex_;
  std::size_t taken_ GUARDED_BY(mutex_) = 0;
  std::deque<Waiter*> waiting_ GUARDED_BY(mutex_);  // each is on the stack of its caller
};

}  // namespace fileserver
