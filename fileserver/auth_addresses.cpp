#include "fileserver/auth_addresses.h"

#include <arpa/inet.h>

#include <algorithm>

#include "net/connect.h"

namespace fileserver {

namespace {

constexpr std::int64_t kResolveEveryNs = 5 * base::kNsPerS;
constexpr std::int64_t kSkipForNs = 1 * base::kNsPerS;
constexpr std::int64_t kResolvingAtMostNs = 30 * base::kNsPerS;  // longer than the resolver takes

bool is_numeric(const std::string& host) {
  in6_addr address;
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

}  // namespace

AuthAddresses::AuthAddresses(net::HostPort name, Resolver resolver)
    : name_(std::move(name)), is_numeric_(is_numeric(name_.host)), resolver_(std::move(resolver)) {}

base::Result<net::Fd> AuthAddresses::connect(std::int64_t timeout_ms, base::Deadline deadline) {
  if (const auto resolved = resolve_if_due(); !resolved) return resolved.error();
  base::Error failure{base::ErrorCode::kUnavailable,
                      net::to_string(name_) + ": no address accepts connections"};
  const auto candidates = in_order_of_trial();
  for (std::size_t i = 0; i < candidates.size() && !deadline.has_passed(); ++i) {
    // An address that neither accepts nor refuses must leave time for those after it.
    const auto share_ms = deadline.left_ms() / static_cast<std::int64_t>(candidates.size() - i);
    auto fd =
        net::connect_to(candidates[i], timeout_ms, nullptr, std::max<std::int64_t>(share_ms, 1));
    note_outcome(candidates[i], fd.ok());
    if (fd) return fd;
    failure = fd.error();
  }
  return failure;
}

// Starts round robin with the addresses that are not skipped. The others follow, so they are tried
// when nothing else is left.
std::vector<net::SocketAddress> AuthAddresses::in_order_of_trial() {
  const base::Lock lock(mutex_);
  std::vector<Known> order = known_;
  if (!order.empty()) {
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(next_++ % order.size()),
                order.end());
  }
  const std::int64_t now = base::now_ns();
  std::stable_partition(order.begin(), order.end(),
                        [now](const Known& k) { return k.skipped_until_ns <= now; });
  // Only this caller tries an address that failed before. The others skip it for another second.
  if (!order.empty() && order.front().skipped_until_ns > 0) {
    skip_until(order.front().address, now + kSkipForNs);
  }
  std::vector<net::SocketAddress> addresses;
  addresses.reserve(order.size());
  for (const Known& known : order) addresses.push_back(known.address);
  return addresses;
}

void AuthAddresses::note_outcome(const net::SocketAddress& address, bool is_good) {
  const base::Lock lock(mutex_);
  skip_until(address, is_good ? 0 : base::now_ns() + kSkipForNs);
  const auto is_skipped = [](const Known& known) { return known.skipped_until_ns > 0; };
  if (std::all_of(known_.begin(), known_.end(), is_skipped)) resolve_again_at_ns_ = 0;
}

void AuthAddresses::skip_until(const net::SocketAddress& address, std::int64_t until_ns) {
  for (Known& known : known_) {
    if (known.address == address) known.skipped_until_ns = until_ns;
  }
}

// If the name server does not answer, the known addresses stay in use, and only one caller waits.
base::Status AuthAddresses::resolve_if_due() {
  if (!must_resolve()) return base::kDone;
  const auto found = resolver_(name_);
  const base::Lock lock(mutex_);
  being_resolved_until_ns_ = 0;
  if (!found && known_.empty()) return found.error();
  resolve_again_at_ns_ = base::now_ns() + kResolveEveryNs;
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

bool AuthAddresses::must_resolve() {
  const base::Lock lock(mutex_);
  if (known_.empty()) return true;
  const std::int64_t now = base::now_ns();
  if (is_numeric_ || now < resolve_again_at_ns_ || now < being_resolved_until_ns_) return false;
  being_resolved_until_ns_ = now + kResolvingAtMostNs;
  return true;
}

}  // namespace fileserver
