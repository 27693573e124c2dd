#include "fileserver/auth/auth_addresses.h"

#include <algorithm>
#include <utility>

#include "net/connect.h"

namespace fileserver {

namespace {

constexpr std::int64_t kSkipForNs = 1 * base::kNsPerS;
constexpr std::string_view kName = "the authserver";  // what the log calls it

}  // namespace

AuthAddresses::AuthAddresses(net::HostPort name, Resolver resolver, OutageLog outage_log,
                             tls::ClientContext* encryption)
    : outage_log_(outage_log),
      encryption_(encryption),
      name_(std::move(name), std::move(resolver)) {}

base::Result<AuthLink> AuthAddresses::connect(std::int64_t timeout_ms, base::Deadline deadline) {
  const std::int64_t began_ns = base::now_ns();
  const auto found = look_up(deadline, began_ns);
  if (!found) return found.error();
  base::Error failure{base::ErrorCode::kUnavailable,
                      net::to_string(name_.name()) + ": no address accepts connections"};
  const auto candidates = in_order_of_trial(*found);
  for (std::size_t i = 0; i < candidates.size() && !deadline.has_passed(); ++i) {
    // An address that neither accepts nor refuses must leave time for those after it.
    const auto share_ms = deadline.left_ms() / static_cast<std::int64_t>(candidates.size() - i);
    auto socket = connect_to(candidates[i], timeout_ms, std::max<std::int64_t>(share_ms, 1));
    if (socket) return AuthLink{std::move(*socket), candidates[i]};
    note_no_answer(candidates[i], socket.error().context, began_ns);
    failure = socket.error();
  }
  return failure;
}

base::Result<tls::Socket> AuthAddresses::connect_to(const net::SocketAddress& address,
                                                    std::int64_t timeout_ms,
                                                    std::int64_t share_ms) {
  const auto deadline = base::Deadline::in_ms(share_ms);
  auto fd = net::connect_to(address, timeout_ms, nullptr, share_ms);
  if (!fd) return fd.error();
  if (encryption_ == nullptr) return tls::Socket(std::move(*fd));
  return encryption_->encrypt(std::move(*fd), name_.name().host, timeout_ms, deadline);
}

// Logs when no address is known because the name cannot be resolved, and when it can be again.
net::ResolvedName::Found AuthAddresses::look_up(base::Deadline deadline, std::int64_t began_ns) {
  auto found = name_.addresses(deadline);
  if (outage_log_ == OutageLog::kOff) return found;
  if (!found) {
    look_up_outage_.note_failure({kName, net::to_string(name_.name())}, found.error().context,
                                 began_ns);
  } else if (look_up_outage_.is_on()) {
    look_up_outage_.note_success({kName, net::to_string(name_.name())});
  }
  return found;
}

// An address that was known before stays as it was, skipped or not.
void AuthAddresses::take_over(const std::vector<net::SocketAddress>& found) {
  const auto is_same = [](const Known& known, const net::SocketAddress& address) {
    return known.address == address;
  };
  if (std::equal(known_.begin(), known_.end(), found.begin(), found.end(), is_same)) return;
  std::vector<Known> fresh;
  for (const net::SocketAddress& address : found) {
    const Known* const before = find(address);
    fresh.push_back(before != nullptr ? *before : Known{address});
  }
  known_ = std::move(fresh);
  count_.store(known_.size(), std::memory_order_relaxed);
}

// Starts round robin with the addresses that are not skipped. The others follow, so they are tried
// when nothing else is left.
std::vector<net::SocketAddress> AuthAddresses::in_order_of_trial(
    const std::vector<net::SocketAddress>& found) {
  const base::Lock lock(mutex_);
  take_over(found);
  std::vector<Known*> order;
  order.reserve(known_.size());
  for (Known& known : known_) order.push_back(&known);
  if (!order.empty()) {
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(next_++ % order.size()),
                order.end());
  }
  const std::int64_t now = base::now_ns();
  std::stable_partition(order.begin(), order.end(),
                        [now](const Known* k) { return k->skipped_until_ns <= now; });
  // Only this caller tries an address that failed before. The others skip it for another second.
  if (!order.empty() && order.front()->skipped_until_ns > 0)
    order.front()->skipped_until_ns = now + kSkipForNs;
  std::vector<net::SocketAddress> addresses;
  addresses.reserve(order.size());
  for (const Known* known : order) addresses.push_back(known->address);
  return addresses;
}

void AuthAddresses::note_answer(const net::SocketAddress& address) {
  if (all_are_well()) return;
  if (const auto outage = set_skipped(address, 0); outage && outage->is_on())
    outage->note_success({kName, address.text()});
  look_for_trouble();
}

void AuthAddresses::note_no_answer(const net::SocketAddress& address, std::string_view reason,
                                   std::int64_t began_ns) {
  const auto outage = set_skipped(address, base::now_ns() + kSkipForNs);
  if (!outage) return;  // the name does not stand for this address any more
  if (outage_log_ == OutageLog::kOn)
    outage->note_failure({kName, address.text()}, reason, began_ns);
  look_for_trouble();  // another thread may have looked between the two lines above
}

void AuthAddresses::skip(const net::SocketAddress& address) {
  set_skipped(address, base::now_ns() + kSkipForNs);
}

// Returns the outage of the address, if the address is known.
std::shared_ptr<base::Outage> AuthAddresses::set_skipped(const net::SocketAddress& address,
                                                         std::int64_t until_ns) {
  std::shared_ptr<base::Outage> outage;
  bool is_none_left = false;
  {
    const base::Lock lock(mutex_);
    Known* const known = find(address);
    if (known == nullptr) return {};
    known->skipped_until_ns = until_ns;
    if (until_ns > 0) has_trouble_.store(true, std::memory_order_relaxed);
    is_none_left = all_are_skipped();
    outage = known->outage;
  }
  if (is_none_left) name_.none_works();
  return outage;
}

void AuthAddresses::look_for_trouble() {
  const base::Lock lock(mutex_);
  const bool has_trouble = std::any_of(known_.begin(), known_.end(), [](const Known& known) {
    return known.skipped_until_ns > 0 || known.outage->is_on();
  });
  has_trouble_.store(has_trouble, std::memory_order_relaxed);
}

AuthAddresses::Known* AuthAddresses::find(const net::SocketAddress& address) {
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const Known& known) { return known.address == address; });
  return found != known_.end() ? &*found : nullptr;
}

bool AuthAddresses::all_are_skipped() {
  return std::all_of(known_.begin(), known_.end(),
                     [](const Known& known) { return known.skipped_until_ns > 0; });
}

}  // namespace fileserver
