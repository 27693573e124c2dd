// Who gives way when all places of --max-connections are taken: a connection on which nothing was
// granted, of an address that has more than its share. So no address without an account can keep
// others out.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "net/ip_address.h"

namespace serve {

// How many connections each address has. The addresses of an IPv6 /64 count as one. Each address is
// counted in two of the counters and has the lower count, so one counts for another only if both
// counters are other addresses' too, by chance, of which nobody knows beforehand whose. It may lie
// in shared memory.
//
// Any thread and any process.
class AddressShares {
 public:
  using Group = std::uint32_t;  // an address, by its two counters

  AddressShares();  // throws std::system_error if the system has no random number

  Group group_of(const net::IpAddress& peer) const;
  void add(Group group) { count(group, 1); }
  void remove(Group group) { count(group, -1); }

  // Whether it has more than a quarter of `places`.
  bool is_large(Group group, int places) const {
    const bool is_first_over = is_over(first_[group % kCounters], places);
    return is_first_over && is_over(second_[group / kCounters], places);
  }

  // Whether some connection may have to give way to this newcomer: others have more than their
  // share, and it has not. It costs a fraction of a look at all connections.
  bool may_push_out(const net::IpAddress& newcomer, int places) const;

 private:
  static constexpr Group kCounters = 4096;
  using Counters = std::array<std::atomic<int>, kCounters>;

  static bool is_over(const std::atomic<int>& counter, int places) {
    return std::int64_t{4} * counter.load(std::memory_order_relaxed) > places;
  }
  void count(Group group, int change) {
    first_[group % kCounters].fetch_add(change, std::memory_order_relaxed);
    second_[group / kCounters].fetch_add(change, std::memory_order_relaxed);
  }

  std::array<std::uint64_t, 2> seeds_;
  Counters first_{}, second_{};
};

// The place of one connection after the other. One thread or process owns it, and calls the first
// functions. It may lie in shared memory.
class Place {
 public:
  // A connection begins that others may ask to give way.
  void begin(AddressShares& shares, AddressShares::Group group);

  // Bytes of a request have come, all of it, or, for a body that anybody may send, not all of it
  // yet. request_came() returns false if the connection has given way and must end. waits_again():
  // for the next request, after one that was not granted.
  void bytes_came() { change(State::kSilent, State::kAsking); }
  bool request_came();
  void request_goes_on() { change(State::kServed, State::kAsking); }
  void waits_again() { change(State::kServed, State::kSilent); }

  // The connection ends. Returns whether it still had its place; else another one has it. Also for
  // a process that died: then its parent calls it. Does nothing if no connection has begun.
  bool end(AddressShares& shares);

  // The rest: any thread and any process.

  // When the connection is to give way, compared with others: who is silent before who has begun a
  // request, and of these the oldest first. Nothing if it does not.
  using Rank = std::uint64_t;
  std::optional<Rank> rank(const AddressShares& shares, int places) const;

  // The connection gives way, so its place belongs to the caller, who must shut it down. Returns
  // false if it has changed since it had that rank.
  bool give_way(Rank rank);
  bool has_given_way() const { return state_of(word_.load()) == State::kGivenWay; }

 private:
  // The two upper bits of the word. Below are those of the time when the connection began.
  enum class State : std::uint64_t { kSilent, kAsking, kServed, kGivenWay };
  static constexpr int kStateShift = 62;
  static constexpr std::uint64_t kTimeBits = (std::uint64_t{1} << kStateShift) - 1;
  static constexpr std::uint64_t kNobody = static_cast<std::uint64_t>(State::kServed)
                                           << kStateShift;

  static State state_of(std::uint64_t word) { return static_cast<State>(word >> kStateShift); }
  static std::uint64_t with(State state, std::uint64_t word) {
    return static_cast<std::uint64_t>(state) << kStateShift | (word & kTimeBits);
  }
  bool change(State from, State to);

  std::atomic<std::uint64_t> word_ = kNobody;
  std::atomic<AddressShares::Group> group_ = 0;
};

// Others may take a place first, or its request comes just now.
constexpr int kTriesToGiveWay = 8;

// Of some owners of a place, the one that gives way to a newcomer. `place_of` returns the place of
// an owner.
template <typename Owners, typename PlaceOf>
auto first_to_give_way(Owners& owners, PlaceOf place_of, const AddressShares& shares, int places)
    -> std::pair<decltype(&*owners.begin()), Place::Rank> {
  std::pair<decltype(&*owners.begin()), Place::Rank> first{nullptr, 0};
  for (auto& owner : owners) {
    const auto rank = place_of(owner).rank(shares, places);
    if (rank && (first.first == nullptr || *rank < first.second)) first = {&owner, *rank};
  }
  return first;
}

// Lets one of these places give way to a newcomer, and returns which. Nothing if none does, or if
// the newcomer itself has more than its share.
std::optional<std::size_t> let_one_give_way(std::span<Place> all, const AddressShares& shares,
                                            const net::IpAddress& newcomer, int places);

}  // namespace serve
