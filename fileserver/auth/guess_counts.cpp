#include "fileserver/auth/guess_counts.h"

#include <algorithm>
#include <list>

namespace fileserver {

namespace {

constexpr std::size_t kWays = 8;
constexpr std::size_t kPairsKnown = 10;

}  // namespace

// A password that waits for a place. It lives on the stack of its thread.
struct GuessCounts::Waiter {
  base::Condition called;
  bool is_called = false;
  Admission admission = Admission::kNoPlace;
};

struct GuessCounts::Entry {
  std::int64_t forgiven_at_ns = 0;  // when all wrong passwords are forgiven
  std::int64_t known_until_ns = 0;  // when the wrong pairs are forgotten, which is not before that
  int places_taken = 0;
  std::array<PairHash, kPairsKnown> wrong_pairs{};
  std::size_t next_pair = 0;
  std::list<Waiter*> waiting;  // in the order of arrival

  bool is_in_use() const { return places_taken > 0 || !waiting.empty(); }
  bool knows(PairHash pair) const {
    return std::find(wrong_pairs.begin(), wrong_pairs.end(), pair) != wrong_pairs.end();
  }
};

// `keys` are read without the mutex, by has_entry(); the rest is only used under it.
struct GuessCounts::Set {
  std::array<std::atomic<std::uint64_t>, kWays> keys{};  // 0: unused
  std::array<Entry, kWays> entries;
};

GuessCounts::SetOwner::~SetOwner() { delete set.load(); }

GuessCounts::GuessCounts(Limits limits, Clock clock)
    : limits_(limits),
      clock_(clock),
      sets_((static_cast<std::size_t>(limits.entries) + kWays - 1) / kWays) {}

base::Mutex& GuessCounts::mutex_of(std::uint64_t key) const {
  return mutexes_[key % sets_.size() % kMutexes];
}

GuessCounts::Place GuessCounts::take(std::uint64_t key, base::Deadline deadline) {
  base::Mutex& mutex = mutex_of(key);
  const base::Lock lock(mutex);
  const std::int64_t now = clock_();
  Entry* entry = find(key, now);
  if (entry == nullptr) entry = make(key, now, false);
  if (entry == nullptr) return without_place(key);
  if (is_at_limit(*entry, now)) return {*this, key, Admission::kTooMany, false};
  if (!has_place(*entry, now)) return wait_for_place(*entry, key, deadline, mutex);
  ++entry->places_taken;
  return {*this, key, Admission::kAsk, true};
}

GuessCounts::Place GuessCounts::pass(std::uint64_t key) {
  if (!may_be_blocked(key)) return without_place(key);
  const base::Lock lock(mutex_of(key));
  const std::int64_t now = clock_();
  const Entry* const entry = find(key, now);
  const bool is_refused = entry != nullptr && is_at_limit(*entry, now);
  return {*this, key, is_refused ? Admission::kTooMany : Admission::kAsk, false};
}

bool GuessCounts::may_be_blocked(std::uint64_t key) const {
  const std::int64_t until_ns = blocked_until_ns_.load(std::memory_order_relaxed);
  return until_ns != 0 && clock_() < until_ns && has_entry(key);
}

bool GuessCounts::has_entry(std::uint64_t key) const {
  const Set* const set = sets_[key % sets_.size()].set.load(std::memory_order_acquire);
  return set != nullptr && std::any_of(set->keys.begin(), set->keys.end(), [key](const auto& one) {
           return one.load(std::memory_order_relaxed) == key;
         });
}

GuessCounts::Place GuessCounts::wait_for_place(Entry& entry, std::uint64_t key,
                                               base::Deadline deadline, base::Mutex& mutex) {
  Waiter waiter;
  const auto place_in_queue = entry.waiting.insert(entry.waiting.end(), &waiter);
  while (!waiter.is_called && !deadline.has_passed())
    waiter.called.wait_ms(mutex, deadline.left_ms());
  // An entry for which somebody waits is never given to another key.
  if (!waiter.is_called) entry.waiting.erase(place_in_queue);
  return {*this, key, waiter.admission, waiter.admission == Admission::kAsk};
}

// Whoever waits gets a place that is free now, in the order of arrival; or, at the limit, is told.
void GuessCounts::call_waiting(Entry& entry, std::int64_t now_ns) const {
  while (!entry.waiting.empty()) {
    const bool is_refused = is_at_limit(entry, now_ns);
    if (!is_refused && !has_place(entry, now_ns)) return;
    Waiter& waiter = *entry.waiting.front();
    entry.waiting.pop_front();
    if (!is_refused) ++entry.places_taken;
    waiter.admission = is_refused ? Admission::kTooMany : Admission::kAsk;
    waiter.is_called = true;
    waiter.called.wake_all();
  }
}

// Gives a place back. `wrong_pair` is 0 unless its password was wrong. Returns whether it counts.
bool GuessCounts::finish(std::uint64_t key, bool has_place, PairHash wrong_pair) {
  const base::Lock lock(mutex_of(key));
  const std::int64_t now = clock_();
  Entry* entry = find(key, now);
  const bool counts = wrong_pair != 0 && (entry == nullptr || !entry->knows(wrong_pair));
  if (counts && entry == nullptr) entry = make(key, now, true);
  if (entry == nullptr) return counts;
  if (counts) count(*entry, wrong_pair, now);
  if (wrong_pair != 0) entry->known_until_ns = now + limits_.most * limits_.forgive_one_ns;
  if (has_place) --entry->places_taken;
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
  std::int64_t known = blocked_until_ns_.load(std::memory_order_relaxed);
  while (known < until_ns && !blocked_until_ns_.compare_exchange_weak(known, until_ns)) {
  }
}

bool GuessCounts::is_at_limit(const Entry& entry, std::int64_t now_ns) const {
  return entry.forgiven_at_ns - now_ns > (limits_.most - 1) * limits_.forgive_one_ns;
}

bool GuessCounts::has_place(const Entry& entry, std::int64_t now_ns) const {
  const std::int64_t left_ns = std::max<std::int64_t>(entry.forgiven_at_ns - now_ns, 0);
  const std::int64_t wrong = (left_ns + limits_.forgive_one_ns - 1) / limits_.forgive_one_ns;
  return wrong + entry.places_taken < limits_.most;
}

// Returns nothing if the key has no entry. Forgets one that is not needed any more.
GuessCounts::Entry* GuessCounts::find(std::uint64_t key, std::int64_t now_ns) const {
  Set* const set = sets_[key % sets_.size()].set.load(std::memory_order_relaxed);
  if (set == nullptr) return nullptr;
  for (std::size_t i = 0; i < kWays; ++i) {
    if (set->keys[i].load(std::memory_order_relaxed) != key) continue;
    Entry& entry = set->entries[i];
    if (entry.is_in_use() || entry.known_until_ns > now_ns) return &entry;
    set->keys[i].store(0, std::memory_order_relaxed);
    return nullptr;
  }
  return nullptr;
}

// Makes an entry in a place that is unused or forgiven; or, if `may_evict`, in that of the entry
// that will be forgiven first. Returns nothing if there is none. Requires: find() found none.
GuessCounts::Entry* GuessCounts::make(std::uint64_t key, std::int64_t now_ns, bool may_evict) {
  SetOwner& owner = sets_[key % sets_.size()];
  if (owner.set.load(std::memory_order_relaxed) == nullptr)
    owner.set.store(new Set, std::memory_order_release);
  Set& set = *owner.set.load(std::memory_order_relaxed);
  const auto rank = [&](std::size_t i) {
    if (set.entries[i].is_in_use()) return INT64_MAX;
    return set.keys[i].load(std::memory_order_relaxed) == 0 ? 0 : set.entries[i].forgiven_at_ns;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < kWays; ++i) {
    if (rank(i) < rank(best)) best = i;
  }
  if (rank(best) == INT64_MAX || (rank(best) > now_ns && !may_evict)) return nullptr;
  set.keys[best].store(key, std::memory_order_relaxed);
  set.entries[best] = Entry{};
  return &set.entries[best];
}

}  // namespace fileserver
