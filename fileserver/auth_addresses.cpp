#include "fileserver/auth_addresses.h"

#include <arpa/inet.h>

#include <algorithm>

#include "net/connect.h"

namespace fileserver {

namespace {

constexpr std::int64_t kKnownForNs = 5 * base::kNsPerS;
constexpr std::int64_t kPassedOverForNs = 1 * base::kNsPerS;
constexpr std::int64_t kOneLooksUpForNs = 30 * base::kNsPerS;  // longer than a resolver tries

bool is_numeric(const std::string& host) {
  in6_addr room_for_either;
  return ::inet_pton(AF_INET, host.c_str(), &room_for_either) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &room_for_either) == 1;
}

}  // namespace

AuthAddresses::AuthAddresses(net::HostPort name, Resolver resolver)
    : name_(std::move(name)), is_numeric_(is_numeric(name_.host)), resolver_(std::move(resolver)) {}

base::Result<net::Fd> AuthAddresses::connect(std::int64_t timeout_ms, base::Deadline deadline) {
  if (const auto looked_up = look_up_again(); !looked_up) return looked_up.error();
  base::Error failure{base::ErrorCode::kUnavailable,
                      net::to_string(name_) + ": no address answers"};
  const auto candidates = in_order_of_trial();
  for (std::size_t i = 0; i < candidates.size() && !deadline.has_passed(); ++i) {
    // One that neither answers nor refuses must leave time for those behind it.
    const auto share_ms = deadline.left_ms() / static_cast<std::int64_t>(candidates.size() - i);
    auto fd =
        net::connect_to(candidates[i], timeout_ms, nullptr, std::max<std::int64_t>(share_ms, 1));
    note_outcome(candidates[i], fd.ok());
    if (fd) return fd;
    failure = fd.error();
  }
  return failure;
}

// Round robin over those that answered last, then the others: one that is down is tried last, and
// so come back to.
std::vector<net::SocketAddress> AuthAddresses::in_order_of_trial() {
  const base::Lock lock(mutex_);
  std::vector<Known> order = known_;
  if (!order.empty()) {
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(next_++ % order.size()),
                order.end());
  }
  const std::int64_t now = base::now_ns();
  std::stable_partition(order.begin(), order.end(),
                        [now](const Known& k) { return k.passed_over_until_ns <= now; });
  // Waiting for one that may still be down is for this caller alone.
  if (!order.empty() && order.front().passed_over_until_ns > 0) {
    pass_over(order.front().address, now + kPassedOverForNs);
  }
  std::vector<net::SocketAddress> addresses;
  addresses.reserve(order.size());
  for (const Known& known : order) addresses.push_back(known.address);
  return addresses;
}

void AuthAddresses::note_outcome(const net::SocketAddress& address, bool is_good) {
  const base::Lock lock(mutex_);
  pass_over(address, is_good ? 0 : base::now_ns() + kPassedOverForNs);
  const auto is_passed_over = [](const Known& known) { return known.passed_over_until_ns > 0; };
  if (std::all_of(known_.begin(), known_.end(), is_passed_over)) known_until_ns_ = 0;
}

void AuthAddresses::pass_over(const net::SocketAddress& address, std::int64_t until_ns) {
  for (Known& known : known_) {
    if (known.address == address) known.passed_over_until_ns = until_ns;
  }
}

// A name server that does not answer leaves us with what is known, and holds up one caller at a
// time.
base::Status AuthAddresses::look_up_again() {
  if (!shall_look_up()) return base::kDone;
  const auto found = resolver_(name_);
  const base::Lock lock(mutex_);
  one_looks_up_until_ns_ = 0;
  if (!found && known_.empty()) return found.error();
  known_until_ns_ = base::now_ns() + kKnownForNs;
  if (!found) return base::kDone;
  std::vector<Known> fresh;
  for (const net::SocketAddress& address : *found) {
    const auto same = [&](const Known& known) { return known.address == address; };
    const auto before = std::find_if(known_.begin(), known_.end(), same);
    fresh.push_back(before != known_.end() ? *before : Known{address});
  }
  known_ = std::move(fresh);
  return base::kDone;
}

bool AuthAddresses::shall_look_up() {
  const base::Lock lock(mutex_);
  if (known_.empty()) return true;
  const std::int64_t now = base::now_ns();
  if (is_numeric_ || now < known_until_ns_ || now < one_looks_up_until_ns_) return false;
  one_looks_up_until_ns_ = now + kOneLooksUpForNs;
  return true;
}

}  // namespace fileserver
