#include "fileserver/auth/guess_throttle.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace fileserver {

namespace {

constexpr std::size_t kHashStackBytes = 512;  // at least what the hash uses; it loads the password

using Key = std::array<unsigned char, crypto_shorthash_KEYBYTES>;

std::uint64_t keyed_hash(const void* bytes, std::size_t size, const Key& key) {
  std::array<unsigned char, crypto_shorthash_BYTES> out;
  ::crypto_shorthash(out.data(), static_cast<const unsigned char*>(bytes), size, key.data());
  std::uint64_t hash = 0;
  std::memcpy(&hash, out.data(), sizeof hash);
  return std::max<std::uint64_t>(hash, 1);  // 0 marks what is unused
}

// The hash of what stands in front changes the key. So nothing has to be copied, and no two lists
// of texts are the same bytes.
std::uint64_t hash_behind(std::uint64_t front, std::string_view text, Key key) {
  for (std::size_t i = 0; i < sizeof front; ++i)
    key[i] = static_cast<unsigned char>(key[i] ^ (front >> (8 * i)));
  const std::uint64_t hash = keyed_hash(text.data(), text.size(), key);
  ::sodium_memzero(key.data(), key.size());
  return hash;
}

std::uint64_t hash_of(const net::IpAddress& address, const Key& key) {
  constexpr std::size_t kNetworkBytes = 8;  // of an IPv6 address: its /64
  const auto& bytes = address.bytes();
  return keyed_hash(bytes.data(), address.is_v4() ? bytes.size() : kNetworkBytes, key);
}

GuessCounts::Limits limits_of_users(const GuessThrottle::Limits& limits) {
  return {limits.wrong_passwords, limits.has_users ? limits.addresses : 1, limits.forgive_one_ns,
          limits.forget_places_after_ns};
}

GuessCounts::Limits limits_of_addresses(const GuessThrottle::Limits& limits) {
  if (!limits.has_users)
    return {limits.wrong_passwords, limits.addresses, limits.forgive_one_ns,
            limits.forget_places_after_ns};
  return {limits.wrong_passwords * GuessThrottle::kUsersWorth, limits.addresses,
          GuessThrottle::kAddressForgiveOneNs, limits.forget_places_after_ns};
}

}  // namespace

GuessThrottle::GuessThrottle(Limits limits, Clock clock)
    : limits_(limits),
      clock_(clock),
      right_pairs_(limits.has_users ? RightPairs::kSets : 1),
      users_(limits_of_users(limits), clock),
      addresses_(limits_of_addresses(limits), clock) {
  ::randombytes_buf(key_.data(), key_.size());
}

GuessThrottle::~GuessThrottle() { ::sodium_memzero(key_.data(), key_.size()); }

GuessThrottle::Hashes GuessThrottle::hashes_of(const net::IpAddress& from,
                                               wire::Credentials account) const {
  const std::uint64_t address = hash_of(from, key_);
  const std::uint64_t user = hash_behind(address, account.user, key_);
  const PairHash pair = hash_behind(user, account.password, key_);
  ::sodium_stackzero(kHashStackBytes);
  return {address, user, pair};
}

GuessThrottle::Attempt GuessThrottle::begin(const net::IpAddress& from, wire::Credentials account,
                                            std::int64_t patience_ms) {
  if (limits_.wrong_passwords == 0) return {*this, 0, Admission::kAsk, {}, {}};
  const Hashes hashes = hashes_of(from, account);
  if (!limits_.has_users) return begin_of_address(hashes, patience_ms);
  return right_pairs_.contains(hashes.pair, clock_()) ? begin_known(hashes, patience_ms)
                                                      : begin_guess(hashes, patience_ms);
}

GuessThrottle::Attempt GuessThrottle::begin_of_address(const Hashes& hashes,
                                                       std::int64_t patience_ms) {
  auto address = addresses_.take(hashes.address, base::Deadline::in_ms(patience_ms));
  const Admission admission = address.admission();
  return {*this, hashes.pair, admission, {}, std::move(address)};
}

GuessThrottle::Attempt GuessThrottle::begin_known(const Hashes& hashes, std::int64_t patience_ms) {
  if (users_.has_entry(hashes.user)) {
    // The place is given back at once. Else many log-ins of a user keep the entry, and wait for
    // each other, long after the last guess.
    const auto turn = users_.take(hashes.user, base::Deadline::in_ms(patience_ms));
    if (turn.admission() != Admission::kAsk) return {*this, hashes.pair, turn.admission(), {}, {}};
  }
  auto address = addresses_.pass(hashes.address);
  const Admission admission = address.admission();
  Attempt attempt(*this, hashes.pair, admission, users_.without_place(hashes.user),
                  std::move(address));
  attempt.was_right_lately_ = true;
  return attempt;
}

// The user comes first. Whoever waits for that one holds no place of the address, which others
// need.
GuessThrottle::Attempt GuessThrottle::begin_guess(const Hashes& hashes, std::int64_t patience_ms) {
  const auto deadline = base::Deadline::in_ms(patience_ms);
  auto user = users_.take(hashes.user, deadline);
  if (user.admission() != Admission::kAsk) return {*this, hashes.pair, user.admission(), {}, {}};
  auto address = addresses_.take(hashes.address, deadline);
  if (address.admission() != Admission::kAsk)
    return {*this, hashes.pair, address.admission(), {}, {}};
  Attempt attempt(*this, hashes.pair, Admission::kAsk, std::move(user), std::move(address));
  attempt.was_right_lately_ = right_pairs_.contains(hashes.pair, clock_());  // others have asked
  return attempt;
}

void GuessThrottle::Attempt::granted() {
  if (pair_ == 0) return;
  const std::int64_t now = throttle_.clock_();
  if (!throttle_.right_pairs_.contains(pair_, now)) throttle_.right_pairs_.remember(pair_, now);
}

void GuessThrottle::Attempt::not_answered() {
  if (pair_ != 0) throttle_.right_pairs_.forget(pair_);
}

// A repetition for the user is none of the address. Then it gives the place back at its end.
bool GuessThrottle::Attempt::denied() {
  if (pair_ == 0) return true;
  throttle_.right_pairs_.forget(pair_);
  const bool counts = !user_ || user_->count_wrong(pair_);
  if (counts) address_->count_wrong(pair_);
  return counts;
}

}  // namespace fileserver
