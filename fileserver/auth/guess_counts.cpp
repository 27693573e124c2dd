#include "fileserver/auth/guess_counts.h"

#include <algorithm>
#include <memory>

namespace fileserver {

namespace {

constexpr std::size_t kWays = 8;
constexpr std::size_t kPairsKnown = 10;
constexpr int kLookAgainMs = 10;

// Holds the mutex, or nothing if there is none. What a process that died with it left half done
// needs no repair: make() and PlacesTaken say why.
class SharedLock {
 public:
  explicit SharedLock(base::ProcessMutex* mutex) : mutex_(mutex) {
    if (mutex_ != nullptr) mutex_->lock();
  }
  ~SharedLock() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

 private:
  base::ProcessMutex* const mutex_;
};

}  // namespace

// The places that are taken, and not forgotten yet. Zeroed bytes are one with none.
//
// A process that dies between two of these stores leaves too many places at worst, which are
// forgotten like others.
class GuessCounts::PlacesTaken {
 public:
  // Those of this period and of the one before.
  int count(std::int64_t period) const {
    if (period == period_) return taken_[0] + taken_[1];
    return period == period_ + 1 ? taken_[index_of(period_)] : 0;
  }

  std::int64_t take(std::int64_t period) {
    begin(period);
    ++taken_[index_of(period)];
    return period;
  }

  void give_back(std::int64_t taken_in, std::int64_t period) {
    begin(period);
    if (taken_in + 1 >= period) --taken_[index_of(taken_in)];
  }

 private:
  static std::size_t index_of(std::int64_t period) { return static_cast<std::size_t>(period % 2); }

  void begin(std::int64_t period) {
    if (period == period_) return;
    if (period != period_ + 1) taken_ = {};
    taken_[index_of(period)] = 0;
    period_ = period;
  }

  std::int64_t period_ = 0;     // in which it was changed last
  std::array<int, 2> taken_{};  // in the periods with even numbers, and in those with odd ones
};

// A password that waits for a place.
struct GuessCounts::Waiter {
  base::Condition called;
  bool is_called = false;
  Admission admission = Admission::kNoPlace;
  Taken taken = {};
  Waiter* before = nullptr;
  Waiter* behind = nullptr;
};

// Zeroed bytes are one of which nothing is known.
struct GuessCounts::Entry {
  std::int64_t forgiven_at_ns = 0;  // when all wrong passwords are forgiven
  std::int64_t known_until_ns = 0;  // when the wrong pairs are forgotten, which is not before that
  PlacesTaken places;
  std::array<PairHash, kPairsKnown> wrong_pairs{};
  std::size_t next_pair = 0;
  Waiter* first_waiter = nullptr;  // they are in the order of arrival; null: nobody waits
  Waiter* last_waiter = nullptr;

  bool is_in_use(std::int64_t period) const {
    return places.count(period) > 0 || first_waiter != nullptr;
  }
  bool knows(PairHash pair) const {
    return std::find(wrong_pairs.begin(), wrong_pairs.end(), pair) != wrong_pairs.end();
  }

  void append(Waiter& waiter) {
    waiter.before = last_waiter;
    (last_waiter != nullptr ? last_waiter->behind : first_waiter) = &waiter;
    last_waiter = &waiter;
  }
  void remove(Waiter& waiter) {
    (waiter.before != nullptr ? waiter.before->behind : first_waiter) = waiter.behind;
    (waiter.behind != nullptr ? waiter.behind->before : last_waiter) = waiter.before;
  }
};

// `keys` are read without the mutex, by has_entry(); the rest is only used under it.
struct GuessCounts::Set {
  std::array<std::atomic<std::uint64_t>, kWays> keys{};  // 0: unused
  std::array<Entry, kWays> entries;
};

// What processes share beside the sets.
struct GuessCounts::State {
  // When the last key that reached the limit may go on; 0: none ever reached it. Relaxed: whoever
  // misses a change is as one who came a moment earlier.
  std::atomic<std::int64_t> blocked_until_ns = 0;

  std::array<base::ProcessMutex, kMutexes> mutexes;
};

GuessCounts::GuessCounts(Limits limits, Clock clock)
    : limits_(limits),
      clock_(clock),
      sets_((static_cast<std::size_t>(limits.entries) + kWays - 1) / kWays) {}

base::Mutex& GuessCounts::mutex_of(std::uint64_t key) const {
  return mutexes_[key % sets_.size() % kMutexes];
}

// Null if one process counts.
base::ProcessMutex* GuessCounts::shared_mutex_of(std::uint64_t key) const {
  return is_of_processes() ? &state_->mutexes[key % sets_.size() % kMutexes] : nullptr;
}

GuessCounts::Place GuessCounts::take(std::uint64_t key, base::Deadline deadline) {
  for (;;) {
    if (auto place = take_or_wait(key, deadline)) return std::move(*place);
    if (deadline.has_passed()) return {*this, key, Admission::kNoPlace};
    base::pause_ms(kLookAgainMs);
  }
}

// Returns nothing if the place of another process has to be waited for.
std::optional<GuessCounts::Place> GuessCounts::take_or_wait(std::uint64_t key,
                                                            base::Deadline deadline) {
  base::Mutex& mutex = mutex_of(key);
  const base::Lock lock(mutex);
  const SharedLock shared(shared_mutex_of(key));
  const std::int64_t now = clock_();
  Entry* entry = find(key, now);
  if (entry == nullptr) entry = make(key, now, false);
  if (entry == nullptr) return without_place(key);
  if (is_at_limit(*entry, now)) return Place(*this, key, Admission::kTooMany);
  if (has_place(*entry, now))
    return Place(*this, key, Admission::kAsk, entry->places.take(period_of(now)));
  if (is_of_processes()) return {};
  return wait_for_place(*entry, key, deadline, mutex);
}

GuessCounts::Place GuessCounts::pass(std::uint64_t key) {
  if (!may_be_blocked(key)) return without_place(key);
  const base::Lock lock(mutex_of(key));
  const SharedLock shared(shared_mutex_of(key));
  const std::int64_t now = clock_();
  const Entry* const entry = find(key, now);
  const bool is_refused = entry != nullptr && is_at_limit(*entry, now);
  return {*this, key, is_refused ? Admission::kTooMany : Admission::kAsk};
}

bool GuessCounts::may_be_blocked(std::uint64_t key) const {
  const std::int64_t until_ns = state_->blocked_until_ns.load(std::memory_order_relaxed);
  return until_ns != 0 && clock_() < until_ns && has_entry(key);
}

bool GuessCounts::has_entry(std::uint64_t key) const {
  return std::ranges::any_of(sets_[key % sets_.size()].keys, [key](const auto& one) {
    return one.load(std::memory_order_relaxed) == key;
  });
}

GuessCounts::Place GuessCounts::wait_for_place(Entry& entry, std::uint64_t key,
                                               base::Deadline deadline, base::Mutex& mutex) {
  const auto waiter = std::make_unique<Waiter>();
  entry.append(*waiter);
  while (!waiter->is_called && !deadline.has_passed())
    waiter->called.wait_ms(mutex, deadline.left_ms());
  // An entry for which somebody waits is never given to another key.
  if (!waiter->is_called) entry.remove(*waiter);
  return {*this, key, waiter->admission, waiter->taken};
}

// Whoever waits gets a place that is free now, in the order of arrival; or, at the limit, is told.
void GuessCounts::call_waiting(Entry& entry, std::int64_t now_ns) const {
  while (entry.first_waiter != nullptr) {
    const bool is_refused = is_at_limit(entry, now_ns);
    if (!is_refused && !has_place(entry, now_ns)) return;
    Waiter& waiter = *entry.first_waiter;
    entry.remove(waiter);
    if (!is_refused) waiter.taken = entry.places.take(period_of(now_ns));
    waiter.admission = is_refused ? Admission::kTooMany : Admission::kAsk;
    waiter.is_called = true;
    waiter.called.wake_all();
  }
}

// Gives back the place that was taken, if there is one. `wrong_pair` is 0 unless its password was
// wrong. Returns whether it counts.
bool GuessCounts::finish(std::uint64_t key, Taken taken, PairHash wrong_pair) {
  const base::Lock lock(mutex_of(key));
  const SharedLock shared(shared_mutex_of(key));
  const std::int64_t now = clock_();
  Entry* entry = find(key, now);
  const bool counts = wrong_pair != 0 && (entry == nullptr || !entry->knows(wrong_pair));
  if (counts && entry == nullptr) entry = make(key, now, true);
  if (entry == nullptr) return counts;
  if (counts) count(*entry, wrong_pair, now);
  if (wrong_pair != 0) entry->known_until_ns = now + limits_.most * limits_.forgive_one_ns;
  if (taken) entry->places.give_back(*taken, period_of(now));
  call_waiting(*entry, now);
  find(key, now);  // forgets the entry, if it is not needed any more
  return counts;
}

void GuessCounts::count(Entry& entry, PairHash pair, std::int64_t now_ns) {
  const std::int64_t most_ns = now_ns + limits_.most * limits_.forgive_one_ns;
  entry.forgiven_at_ns =
      std::min(std::max(entry.forgiven_at_ns, now_ns) + limits_.forgive_one_ns, most_ns);
  entry.wrong_pairs[entry.next_pair++ % entry.wrong_pairs.size()] = pair;
  if (!is_at_limit(entry, now_ns)) return;
  const std::int64_t until_ns = entry.forgiven_at_ns - (limits_.most - 1) * limits_.forgive_one_ns;
  std::int64_t known = state_->blocked_until_ns.load(std::memory_order_relaxed);
  while (known < until_ns && !state_->blocked_until_ns.compare_exchange_weak(known, until_ns)) {
  }
}

bool GuessCounts::is_at_limit(const Entry& entry, std::int64_t now_ns) const {
  return entry.forgiven_at_ns - now_ns > (limits_.most - 1) * limits_.forgive_one_ns;
}

bool GuessCounts::has_place(const Entry& entry, std::int64_t now_ns) const {
  const std::int64_t left_ns = std::max<std::int64_t>(entry.forgiven_at_ns - now_ns, 0);
  const std::int64_t wrong = (left_ns + limits_.forgive_one_ns - 1) / limits_.forgive_one_ns;
  return wrong + entry.places.count(period_of(now_ns)) < limits_.most;
}

// Returns nothing if the key has no entry. Forgets one that is not needed any more.
GuessCounts::Entry* GuessCounts::find(std::uint64_t key, std::int64_t now_ns) const {
  Set& set = sets_[key % sets_.size()];
  for (std::size_t i = 0; i < kWays; ++i) {
    if (set.keys[i].load(std::memory_order_relaxed) != key) continue;
    Entry& entry = set.entries[i];
    if (entry.is_in_use(period_of(now_ns)) || entry.known_until_ns > now_ns) return &entry;
    set.keys[i].store(0, std::memory_order_relaxed);
    return nullptr;
  }
  return nullptr;
}

// Makes an entry in a place that is unused or forgiven; or, if `may_evict`, in that of the entry
// that will be forgiven first. Returns nothing if there is none. Requires: find() found none.
GuessCounts::Entry* GuessCounts::make(std::uint64_t key, std::int64_t now_ns, bool may_evict) {
  Set& set = sets_[key % sets_.size()];
  const std::int64_t period = period_of(now_ns);
  const auto rank = [&](std::size_t i) {
    if (set.keys[i].load(std::memory_order_relaxed) == 0) return std::int64_t{0};
    return set.entries[i].is_in_use(period) ? INT64_MAX : set.entries[i].forgiven_at_ns;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < kWays; ++i) {
    if (rank(i) < rank(best)) best = i;
  }
  if (rank(best) == INT64_MAX || (rank(best) > now_ns && !may_evict)) return nullptr;
  // The key is last. If a process dies before, the key that was there has lost its counts.
  set.entries[best] = Entry{};
  set.keys[best].store(key, std::memory_order_release);
  return &set.entries[best];
}

}  // namespace fileserver
