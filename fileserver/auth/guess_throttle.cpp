#include "fileserver/auth/guess_throttle.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <utility>

namespace fileserver {

namespace {

constexpr std::size_t kWays = 8;
constexpr std::size_t kPairsKnown = 10;
constexpr std::size_t kHashStackBytes = 512;  // at least what the hash uses; it loads the password

using Key = std::array<unsigned char, crypto_shorthash_KEYBYTES>;

std::uint64_t keyed_hash(const void* bytes, std::size_t size, const Key& key) {
  std::array<unsigned char, crypto_shorthash_BYTES> out;
  ::crypto_shorthash(out.data(), static_cast<const unsigned char*>(bytes), size, key.data());
  std::uint64_t hash = 0;
  std::memcpy(&hash, out.data(), sizeof hash);
  return std::max<std::uint64_t>(hash, 1);  // 0 marks what is unused
}

}  // namespace

// A log-in that waits for a place. It lives on the stack of its thread.
struct GuessThrottle::Waiter {
  base::Condition called;
  bool is_called = false;
  Turn turn = Turn::kNoTurn;
};

struct GuessThrottle::Entry {
  std::int64_t forgiven_at_ns = 0;  // when all wrong passwords are forgiven
  int places_taken = 0;
  std::array<PairHash, kPairsKnown> wrong_pairs{};
  std::size_t next_pair = 0;
  std::list<Waiter*> waiting;  // in the order of arrival

  bool is_in_use() const { return places_taken > 0 || !waiting.empty(); }
  bool knows(PairHash pair) const {
    return std::find(wrong_pairs.begin(), wrong_pairs.end(), pair) != wrong_pairs.end();
  }
};

// `addresses` are read without the mutex, by is_known(); the rest is only used under it.
struct GuessThrottle::Set {
  std::array<std::atomic<std::uint64_t>, kWays> addresses{};  // 0: unused
  std::array<Entry, kWays> entries;
};

GuessThrottle::SetOwner::~SetOwner() { delete set.load(); }

GuessThrottle::GuessThrottle(Limits limits, Clock clock)
    : limits_(limits),
      clock_(clock),
      right_pairs_(limits.has_right_pairs ? RightPairs::kSets : 1),
      sets_((static_cast<std::size_t>(limits.addresses) + kWays - 1) / kWays) {
  ::randombytes_buf(key_.data(), key_.size());
}

GuessThrottle::~GuessThrottle() { ::sodium_memzero(key_.data(), key_.size()); }

std::uint64_t GuessThrottle::hash_of(const net::IpAddress& address) const {
  constexpr std::size_t kNetworkBytes = 8;  // of an IPv6 address: its /64
  const auto& bytes = address.bytes();
  return keyed_hash(bytes.data(), address.is_v4() ? bytes.size() : kNetworkBytes, key_);
}

// The hash of the user changes the key for the password. So nothing has to be copied, and no two
// pairs are the same bytes.
PairHash GuessThrottle::hash_of(wire::Credentials account) const {
  const std::uint64_t user = keyed_hash(account.user.data(), account.user.size(), key_);
  Key key = key_;
  for (std::size_t i = 0; i < sizeof user; ++i)
    key[i] = static_cast<unsigned char>(key[i] ^ (user >> (8 * i)));
  const PairHash pair = keyed_hash(account.password.data(), account.password.size(), key);
  ::sodium_memzero(key.data(), key.size());
  ::sodium_stackzero(kHashStackBytes);
  return pair;
}

base::Mutex& GuessThrottle::mutex_of(std::uint64_t address) const {
  return mutexes_[address % sets_.size() % kMutexes];
}

GuessThrottle::Attempt GuessThrottle::begin(const net::IpAddress& from, wire::Credentials account,
                                            std::int64_t patience_ms) {
  if (limits_.wrong_passwords == 0) return {*this, 0, 0, Turn::kAsk, false};
  const std::uint64_t address = hash_of(from);
  const PairHash pair = hash_of(account);
  if (right_pairs_.contains(pair, clock_()) && !may_be_blocked(address))
    return {*this, address, pair, Turn::kAsk, false};
  return begin_with_entry(address, pair, patience_ms);
}

bool GuessThrottle::may_be_blocked(std::uint64_t address) const {
  const std::int64_t until_ns = blocked_until_ns_.load(std::memory_order_relaxed);
  return until_ns != 0 && clock_() < until_ns && is_known(address);
}

bool GuessThrottle::is_known(std::uint64_t address) const {
  const Set* const set = sets_[address % sets_.size()].set.load(std::memory_order_acquire);
  return set != nullptr &&
         std::any_of(set->addresses.begin(), set->addresses.end(), [address](const auto& known) {
           return known.load(std::memory_order_relaxed) == address;
         });
}

GuessThrottle::Attempt GuessThrottle::begin_with_entry(std::uint64_t address, PairHash pair,
                                                       std::int64_t patience_ms) {
  base::Mutex& mutex = mutex_of(address);
  const base::Lock lock(mutex);
  const std::int64_t now = clock_();
  Entry* entry = find(address, now);
  if (entry != nullptr && is_at_limit(*entry, now))
    return {*this, address, pair, Turn::kTooMany, false};
  const bool needs_no_place = right_pairs_.contains(pair, now);
  if (!needs_no_place && entry == nullptr) entry = make(address, now, false);
  if (needs_no_place || entry == nullptr) return {*this, address, pair, Turn::kAsk, false};
  if (!has_place(*entry, now)) return wait_for_place(*entry, address, pair, patience_ms, mutex);
  ++entry->places_taken;
  return {*this, address, pair, Turn::kAsk, true};
}

GuessThrottle::Attempt GuessThrottle::wait_for_place(Entry& entry, std::uint64_t address,
                                                     PairHash pair, std::int64_t patience_ms,
                                                     base::Mutex& mutex) {
  Waiter waiter;
  const auto place_in_queue = entry.waiting.insert(entry.waiting.end(), &waiter);
  const auto deadline = base::Deadline::in_ms(patience_ms);
  while (!waiter.is_called && !deadline.has_passed())
    waiter.called.wait_ms(mutex, deadline.left_ms());
  // An entry for which somebody waits is never given to another address.
  if (!waiter.is_called) entry.waiting.erase(place_in_queue);
  return {*this, address, pair, waiter.turn, waiter.turn == Turn::kAsk};
}

// Whoever waits gets a place that is free now, in the order of arrival; or, at the limit, is told.
void GuessThrottle::call_waiting(Entry& entry, std::int64_t now_ns) const {
  while (!entry.waiting.empty()) {
    const bool is_refused = is_at_limit(entry, now_ns);
    if (!is_refused && !has_place(entry, now_ns)) return;
    Waiter& waiter = *entry.waiting.front();
    entry.waiting.pop_front();
    if (!is_refused) ++entry.places_taken;
    waiter.turn = is_refused ? Turn::kTooMany : Turn::kAsk;
    waiter.is_called = true;
    waiter.called.wake_all();
  }
}

// Ends an attempt. `wrong_pair` is 0 unless it was denied. Returns whether it was counted.
bool GuessThrottle::finish(std::uint64_t address, bool has_place, PairHash wrong_pair) {
  const base::Lock lock(mutex_of(address));
  const std::int64_t now = clock_();
  Entry* entry = find(address, now);
  const bool counts = wrong_pair != 0 && (entry == nullptr || !entry->knows(wrong_pair));
  if (counts && entry == nullptr) entry = make(address, now, true);
  if (entry == nullptr) return counts;
  if (counts) count(*entry, wrong_pair, now);
  if (has_place) --entry->places_taken;
  call_waiting(*entry, now);
  find(address, now);  // forgets the entry, if it is not needed any more
  return counts;
}

void GuessThrottle::count(Entry& entry, PairHash pair, std::int64_t now_ns) {
  const std::int64_t most_ns = now_ns + limits_.wrong_passwords * limits_.forgive_one_ns;
  entry.forgiven_at_ns =
      std::min(std::max(entry.forgiven_at_ns, now_ns) + limits_.forgive_one_ns, most_ns);
  entry.wrong_pairs[entry.next_pair++ % entry.wrong_pairs.size()] = pair;
  if (!is_at_limit(entry, now_ns)) return;
  const std::int64_t until_ns =
      entry.forgiven_at_ns - (limits_.wrong_passwords - 1) * limits_.forgive_one_ns;
  std::int64_t known = blocked_until_ns_.load(std::memory_order_relaxed);
  while (known < until_ns && !blocked_until_ns_.compare_exchange_weak(known, until_ns)) {
  }
}

bool GuessThrottle::is_at_limit(const Entry& entry, std::int64_t now_ns) const {
  return entry.forgiven_at_ns - now_ns > (limits_.wrong_passwords - 1) * limits_.forgive_one_ns;
}

bool GuessThrottle::has_place(const Entry& entry, std::int64_t now_ns) const {
  const std::int64_t left_ns = std::max<std::int64_t>(entry.forgiven_at_ns - now_ns, 0);
  const std::int64_t wrong = (left_ns + limits_.forgive_one_ns - 1) / limits_.forgive_one_ns;
  return wrong + entry.places_taken < limits_.wrong_passwords;
}

// Returns nothing if the address has no entry. Forgets one that is not needed any more.
GuessThrottle::Entry* GuessThrottle::find(std::uint64_t address, std::int64_t now_ns) const {
  Set* const set = sets_[address % sets_.size()].set.load(std::memory_order_relaxed);
  if (set == nullptr) return nullptr;
  for (std::size_t i = 0; i < kWays; ++i) {
    if (set->addresses[i].load(std::memory_order_relaxed) != address) continue;
    Entry& entry = set->entries[i];
    if (entry.is_in_use() || entry.forgiven_at_ns > now_ns) return &entry;
    set->addresses[i].store(0, std::memory_order_relaxed);
    return nullptr;
  }
  return nullptr;
}

// Makes an entry in a place that is unused or forgiven; or, if `may_evict`, in that of the entry
// that will be forgiven first. Returns nothing if there is none. Requires: find() found none.
GuessThrottle::Entry* GuessThrottle::make(std::uint64_t address, std::int64_t now_ns,
                                          bool may_evict) {
  SetOwner& owner = sets_[address % sets_.size()];
  if (owner.set.load(std::memory_order_relaxed) == nullptr)
    owner.set.store(new Set, std::memory_order_release);
  Set& set = *owner.set.load(std::memory_order_relaxed);
  const auto rank = [&](std::size_t i) {
    if (set.entries[i].is_in_use()) return INT64_MAX;
    return set.addresses[i].load(std::memory_order_relaxed) == 0 ? 0
                                                                 : set.entries[i].forgiven_at_ns;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < kWays; ++i) {
    if (rank(i) < rank(best)) best = i;
  }
  if (rank(best) == INT64_MAX || (rank(best) > now_ns && !may_evict)) return nullptr;
  set.addresses[best].store(address, std::memory_order_relaxed);
  set.entries[best] = Entry{};
  return &set.entries[best];
}

GuessThrottle::Attempt::~Attempt() {
  if (has_place_) throttle_.finish(address_, true, 0);
}

bool GuessThrottle::Attempt::was_right_lately() const {
  return pair_ != 0 && throttle_.right_pairs_.contains(pair_, throttle_.clock_());
}

void GuessThrottle::Attempt::granted() {
  if (pair_ == 0 || was_right_lately()) return;
  throttle_.right_pairs_.remember(pair_, throttle_.clock_());
}

void GuessThrottle::Attempt::not_answered() {
  if (pair_ != 0) throttle_.right_pairs_.forget(pair_);
}

bool GuessThrottle::Attempt::denied() {
  if (pair_ == 0) return true;
  throttle_.right_pairs_.forget(pair_);
  return throttle_.finish(address_, std::exchange(has_place_, false), pair_);
}

}  // namespace fileserver
