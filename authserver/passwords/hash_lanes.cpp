#include "authserver/passwords/hash_lanes.h"

#include <algorithm>

#include "base/clock.h"
#include "base/futex.h"

namespace authserver {

class HashLanes::Guard {
 public:
  explicit Guard(HashLanes& lanes) : lanes_(lanes) {
    if (lanes_.mutex_.lock() == base::ProcessMutex::Locked::kYesAfterDeath) lanes_.repair();
  }
  ~Guard() { lanes_.mutex_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  HashLanes& lanes_;
};

HashLanes::Turn::~Turn() {
  if (!index_) return;
  const Guard guard(lanes_);
  lanes_.leave(lanes_.requests_[*index_]);
  lanes_.hand_out_lanes();
}

// A waiting request sleeps until it is granted a lane. If a process died, nobody may wake it.
// Therefore it also looks by itself now and then, the more rarely the more requests are before it.
std::optional<std::size_t> HashLanes::wait_for_lane(std::optional<std::uint64_t> credential,
                                                    std::int64_t deadline_ns) {
  constexpr std::int64_t kLookEveryNs = 50 * base::kNsPerMs;
  std::optional<std::size_t> index;
  for (;;) {
    std::int64_t sleep_until_ns = base::now_ns();
    {
      const Guard guard(*this);
      if (!index) index = enter(credential);
      if (!index) return {};
      hand_out_lanes();
      Request& request = requests_[*index];
      if (request.state == State::kComputing) return index;
      if (sleep_until_ns >= deadline_ns) {
        leave(request);
        return {};
      }
      const auto requests_before = static_cast<std::int64_t>(request.ticket - first_ticket_);
      sleep_until_ns = std::min(deadline_ns, sleep_until_ns + kLookEveryNs * (requests_before + 1));
    }
    base::sleep_while(requests_[*index].state, State::kWaiting, sleep_until_ns);
    if (requests_[*index].state == State::kComputing) return index;
  }
}

// A ticket is passed over while an earlier request still stands where its own would.
std::optional<std::size_t> HashLanes::enter(std::optional<std::uint64_t> credential) {
  for (; next_ticket_ - first_ticket_ < kMostRequests; ++next_ticket_) {
    Request& request = request_of(next_ticket_);
    if (request.state != State::kFree ||
        request.owner.try_lock() == base::ProcessMutex::Locked::kNo)
      continue;
    request.ticket = next_ticket_++;
    request.credential = credential;
    request.state = State::kWaiting;
    ++waiting_;
    return request.ticket % kMostRequests;
  }
  return {};
}

// Requires: the calling thread holds the mutex of the owner.
void HashLanes::leave(Request& request) {
  if (request.state == State::kWaiting) --waiting_;
  if (request.state == State::kComputing) {
    const auto end = computed_tickets_.begin() + static_cast<std::ptrdiff_t>(computing_);
    const auto mine = std::find(computed_tickets_.begin(), end, request.ticket);
    if (mine != end) *mine = computed_tickets_[--computing_];
  }
  request.state = State::kFree;
  request.owner.unlock();
}

void HashLanes::hand_out_lanes() {
  while (first_ticket_ < next_ticket_ && !is_waiting(first_ticket_)) ++first_ticket_;
  if (first_ticket_ == next_ticket_) return;
  if (computing_ == count_) free_lanes_of_the_dead();
  for (std::uint64_t ticket = first_ticket_; ticket < next_ticket_ && computing_ < count_;
       ++ticket) {
    if (!is_waiting(ticket)) continue;
    Request& request = request_of(ticket);
    if (is_abandoned(request)) {
      leave(request);
    } else if (!is_computed(request.credential)) {
      grant(request);
    }
  }
}

void HashLanes::grant(Request& request) {
  computed_tickets_[computing_] = request.ticket;
  ++computing_;
  --waiting_;
  request.state = State::kComputing;
  base::wake(request.state);
}

void HashLanes::free_lanes_of_the_dead() {
  for (std::size_t i = computing_; i > 0; --i) {
    Request& request = request_of(computed_tickets_[i - 1]);
    if (is_abandoned(request)) leave(request);
  }
}

// Finds everything again from the places. Each of their changes is one store, so a death in between
// leaves them as they were before or after.
void HashLanes::repair() {
  computing_ = 0;
  waiting_ = 0;
  first_ticket_ = UINT64_MAX;
  for (Request& request : requests_) {
    if (request.state == State::kFree) continue;
    next_ticket_ = std::max(next_ticket_, request.ticket + 1);
    if (request.state == State::kComputing) {
      computed_tickets_[computing_++] = request.ticket;
    } else {
      ++waiting_;
      first_ticket_ = std::min(first_ticket_, request.ticket);
    }
  }
  first_ticket_ = std::min(first_ticket_, next_ticket_);
}

bool HashLanes::is_waiting(std::uint64_t ticket) const {
  const Request& request = request_of(ticket);
  return request.state == State::kWaiting && request.ticket == ticket;
}

bool HashLanes::is_computed(const std::optional<std::uint64_t>& credential) const {
  if (!credential) return false;
  const auto end = computed_tickets_.begin() + static_cast<std::ptrdiff_t>(computing_);
  return std::any_of(computed_tickets_.begin(), end, [&](std::uint64_t ticket) {
    return request_of(ticket).credential == credential;
  });
}

// Whether nobody owns the request any more. Then its owner's mutex is held by the caller.
bool HashLanes::is_abandoned(Request& request) {
  return request.owner.try_lock() != base::ProcessMutex::Locked::kNo;
}

}  // namespace authserver
