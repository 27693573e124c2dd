// How many changes of whole folders go on at once: COPY, DELETE, and a MOVE that copies or removes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"

namespace fileserver {

// Each may take hours, and all of them write to the same disks. So one user, with however many
// requests, does not keep others from short changes, and hardly from long ones. Those who wait
// begin in the order in which they came, but nobody waits for a user who has all the places of one.
//
// Any thread and any context.
class LongChanges {
 public:
  static constexpr std::size_t kMost = 8;  // a quarter of the helpers of the event model
  static constexpr std::size_t kMostOfUser = 4;

  // A change that has not gone on for so long hangs.
  explicit LongChanges(std::int64_t hangs_ms = 10'000) : hangs_ms_(hangs_ms) {}

  // A place among them, from its construction to its end.
  class Place {
   public:
    // Waits for a place, as long as may_wait() returns true, which must not throw. `changes` and
    // what `user` points to must outlive this.
    Place(LongChanges& changes, std::string_view user, const std::function<bool()>& may_wait);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    bool is_taken() const { return is_taken_; }

    // To be called now and then. One that hangs keeps its place, but no one else from another. Any
    // thread.
    void goes_on() { seen_ns_.store(base::now_ns(), std::memory_order_relaxed); }

   private:
    friend class LongChanges;

    LongChanges& changes_;
    const std::string_view user_;
    std::atomic<std::int64_t> seen_ns_ = 0;
    std::list<const Place*>::iterator self_ = {};  // in one of the lists of changes_
    bool is_taken_ = false;
  };

 private:
  using Places = std::list<const Place*>;

  bool take(Place& place, const std::function<bool()>& may_wait) EXCLUDES(mutex_);
  bool begin(Place& place) EXCLUDES(mutex_);
  void give_up(const Place& place) EXCLUDES(mutex_);
  void give_back(const Place& place) EXCLUDES(mutex_);
  bool is_next(const Place& place) const REQUIRES(mutex_);
  bool has_place_for(std::string_view user) const REQUIRES(mutex_);

  const std::int64_t hangs_ms_;

  base::Mutex mutex_;
  base::Condition changed_;
  Places begun_ GUARDED_BY(mutex_);
  Places waiting_ GUARDED_BY(mutex_);  // in the order in which they came
};

}  // namespace fileserver
