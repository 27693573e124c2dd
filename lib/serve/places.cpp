#include "serve/places.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/clock.h"

namespace serve {

namespace {

// A hash whose result nobody can choose who does not know the seed (splitmix64).
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

AddressShares::AddressShares() {
  if (::getrandom(seeds_.data(), sizeof seeds_, 0) != static_cast<ssize_t>(sizeof seeds_))
    throw std::system_error(errno, std::generic_category(), "getrandom");
}

AddressShares::Group AddressShares::group_of(const net::IpAddress& peer) const {
  std::array<std::uint64_t, 2> halves;
  std::memcpy(halves.data(), peer.bytes().data(), sizeof halves);
  if (!peer.is_v4()) halves[1] = 0;  // the network is in the first half
  constexpr std::uint64_t kGroups = std::uint64_t{kCounters} * kCounters;
  return static_cast<Group>(mixed(mixed(halves[0] ^ seeds_[0]) ^ halves[1] ^ seeds_[1]) % kGroups);
}

// Its own counters are not looked at again: its connections come meanwhile, and would make it push
// out one of themselves.
bool AddressShares::may_push_out(const net::IpAddress& newcomer, int places) const {
  const Group own = group_of(newcomer);
  if (is_large(own, places)) return false;
  for (Group i = 0; i < kCounters; ++i) {
    if (i != own % kCounters && is_over(first_[i], places)) return true;
    if (i != own / kCounters && is_over(second_[i], places)) return true;
  }
  return false;
}

void Place::begin(AddressShares& shares, AddressShares::Group group) {
  shares.add(group);
  group_.store(group, std::memory_order_relaxed);
  word_ = with(State::kSilent, static_cast<std::uint64_t>(base::now_ns()));
}

bool Place::request_came() {
  return change(State::kSilent, State::kServed) || change(State::kAsking, State::kServed) ||
         !has_given_way();
}

bool Place::end(AddressShares& shares) {
  const std::uint64_t word = word_.exchange(kNobody);
  if (word == kNobody) return true;
  shares.remove(group_.load(std::memory_order_relaxed));
  return state_of(word) != State::kGivenWay;
}

std::optional<Place::Rank> Place::rank(const AddressShares& shares, int places) const {
  const std::uint64_t word = word_.load();
  const bool may_give_way = state_of(word) == State::kSilent || state_of(word) == State::kAsking;
  if (!may_give_way || !shares.is_large(group_.load(std::memory_order_relaxed), places)) return {};
  return word;
}

bool Place::give_way(Rank rank) {
  return word_.compare_exchange_strong(rank, with(State::kGivenWay, rank));
}

std::optional<std::size_t> let_one_give_way(std::span<Place> all, const AddressShares& shares,
                                            const net::IpAddress& newcomer, int places) {
  if (!shares.may_push_out(newcomer, places)) return {};
  for (int i = 0; i < kTriesToGiveWay; ++i) {
    const auto [first, rank] = first_to_give_way(
        all, [](const Place& place) -> const Place& { return place; }, shares, places);
    if (first == nullptr) return {};
    if (first->give_way(rank)) return static_cast<std::size_t>(first - all.data());
  }
  return {};
}

// Only the owner leaves `from` for another state than kGivenWay.
bool Place::change(State from, State to) {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  return state_of(word) == from && word_.compare_exchange_strong(word, with(to, word));
}

}  // namespace serve
