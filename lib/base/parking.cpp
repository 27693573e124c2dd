#include "base/parking.h"

#include <array>
#include <functional>

#include "base/mutex.h"

namespace base {

// Who sleeps on a word is in the list of the word's bucket. `sleepers` is counted up before the
// sleeper looks at the word, and looked at after the word was changed: one of both sees the other.
struct ParkingLot {
  struct Bucket {
    Mutex mutex;
    Parked* first = nullptr;
    Parked* last = nullptr;

    void push(Parked& one) {
      one.before_ = last;
      one.behind_ = nullptr;
      (last == nullptr ? first : last->behind_) = &one;
      last = &one;
    }
    void erase(Parked& one) {
      (one.before_ == nullptr ? first : one.before_->behind_) = one.behind_;
      (one.behind_ == nullptr ? last : one.behind_->before_) = one.before_;
      one.word_ = nullptr;
    }
    int wake(const void* word, int most) {
      int woken = 0;
      for (Parked* one = first; one != nullptr && woken < most;) {
        Parked* const next = one->behind_;
        if (one->word_ == word) {
          erase(*one);
          one->is_woken();
          ++woken;
        }
        one = next;
      }
      return woken;
    }
  };

  std::atomic<int> sleepers = 0;
  std::array<Bucket, 64> buckets;

  Bucket& bucket_of(const void* word) {
    return buckets[std::hash<const void*>()(word) / 16 % buckets.size()];
  }
  static const void* word_of(const Parked& one) { return one.word_; }
  static void set_word(Parked& one, const void* word) { one.word_ = word; }
};

namespace {

ParkingLot lot;

}  // namespace

void park(const void* word, Parked& sleeper) {
  lot.sleepers.fetch_add(1);
  ParkingLot::Bucket& bucket = lot.bucket_of(word);
  const Lock lock(bucket.mutex);
  ParkingLot::set_word(sleeper, word);
  bucket.push(sleeper);
}

bool undo_park(Parked& sleeper, const void* word) {
  ParkingLot::Bucket& bucket = lot.bucket_of(word);
  const Lock lock(bucket.mutex);
  if (ParkingLot::word_of(sleeper) == nullptr) return false;
  bucket.erase(sleeper);
  lot.sleepers.fetch_sub(1);
  return true;
}

// A change of the number is a barrier: what was written to a word before is seen by who parks after
// it.
bool are_some_parked() { return lot.sleepers.fetch_add(0) != 0; }

int wake_parked_ones(const void* word, int most) {
  if (!are_some_parked()) return 0;
  ParkingLot::Bucket& bucket = lot.bucket_of(word);
  const Lock lock(bucket.mutex);
  const int woken = bucket.wake(word, most);
  lot.sleepers.fetch_sub(woken);
  return woken;
}

}  // namespace base
