#include "fileserver/auth_addresses.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "net/connect.h"

namespace fileserver {

namespace {

constexpr std::int64_t kResolveEveryNs = 5 * base::kNsPerS;
constexpr std::int64_t kSkipForNs = 1 * base::kNsPerS;
constexpr std::string_view kName = "the authserver";  // what the log calls it

// A name is looked up in a thread that nobody joins, because the resolver may take longer than
// anybody wants to wait. For an address in numbers it does not wait. Throws std::system_error when
// no thread can be made.
template <typename Found>
std::shared_future<Found> look_up(const net::HostPort& name, bool is_numeric,
                                  const std::function<Found(const net::HostPort&)>& resolver) {
  std::packaged_task<Found()> task([name, resolver] { return resolver(name); });
  auto found = task.get_future().share();
  if (is_numeric) {
    task();
  } else {
    std::thread(std::move(task)).detach();
  }
  return found;
}

std::chrono::milliseconds left(base::Deadline deadline) {
  return std::chrono::milliseconds(deadline.left_ms());
}

}  // namespace

AuthAddresses::AuthAddresses(net::HostPort name, Resolver resolver, OutageLog outage_log)
    : name_(std::move(name)),
      is_numeric_(net::is_numeric(name_.host)),
      resolver_(std::move(resolver)),
      outage_log_(outage_log) {}

base::Result<AuthLink> AuthAddresses::connect(std::int64_t timeout_ms, base::Deadline deadline) {
  const std::int64_t began_ns = base::now_ns();
  const auto known = note_look_up(wait_until_known(deadline), began_ns);
  if (!known) return known.error();
  base::Error failure{base::ErrorCode::kUnavailable,
                      net::to_string(name_) + ": no address accepts connections"};
  const auto candidates = in_order_of_trial();
  for (std::size_t i = 0; i < candidates.size() && !deadline.has_passed(); ++i) {
    // An address that neither accepts nor refuses must leave time for those after it.
    const auto share_ms = deadline.left_ms() / static_cast<std::int64_t>(candidates.size() - i);
    auto fd =
        net::connect_to(candidates[i], timeout_ms, nullptr, std::max<std::int64_t>(share_ms, 1));
    if (fd) return AuthLink{std::move(*fd), candidates[i]};
    note_no_answer(candidates[i], fd.error().context, began_ns);
    failure = fd.error();
  }
  return failure;
}

// Starts round robin with the addresses that are not skipped. The others follow, so they are tried
// when nothing else is left.
std::vector<net::SocketAddress> AuthAddresses::in_order_of_trial() {
  const base::Lock lock(mutex_);
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

std::size_t AuthAddresses::count() {
  const base::Lock lock(mutex_);
  return known_.size();
}

// Returns the outage of the address, if the address is known.
std::shared_ptr<base::Outage> AuthAddresses::set_skipped(const net::SocketAddress& address,
                                                         std::int64_t until_ns) {
  const base::Lock lock(mutex_);
  Known* const known = find(address);
  if (known == nullptr) return {};
  known->skipped_until_ns = until_ns;
  if (until_ns > 0) has_trouble_.store(true, std::memory_order_relaxed);
  if (all_are_skipped()) resolve_again_at_ns_ = 0;
  return known->outage;
}

void AuthAddresses::look_for_trouble() {
  const base::Lock lock(mutex_);
  const bool has_trouble = std::any_of(known_.begin(), known_.end(), [](const Known& known) {
    return known.skipped_until_ns > 0 || known.outage->is_on();
  });
  has_trouble_.store(has_trouble, std::memory_order_relaxed);
}

// Logs when no address is known because the name cannot be resolved, and when it can be again.
base::Status AuthAddresses::note_look_up(base::Status known, std::int64_t began_ns) {
  if (outage_log_ == OutageLog::kOff) return known;
  if (!known) {
    look_up_outage_.note_failure({kName, net::to_string(name_)}, known.error().context, began_ns);
  } else if (look_up_outage_.is_on()) {
    look_up_outage_.note_success({kName, net::to_string(name_)});
  }
  return known;
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

// Without known addresses, waits for them until the deadline. When all known addresses failed, who
// asks for new ones waits for half of the time, and then tries the known ones again.
base::Status AuthAddresses::wait_until_known(base::Deadline deadline) {
  std::shared_future<Found> under_way;
  base::Deadline wait_until = deadline;
  {
    const base::Lock lock(mutex_);
    take_look_up();
    const bool is_due = must_look_up() && start_look_up();
    if (!known_.empty() && !(is_due && all_are_skipped())) return base::kDone;
    if (!known_.empty()) wait_until = base::Deadline::in_ms(deadline.left_ms() / 2);
    under_way = look_up_;
  }
  if (under_way.valid()) under_way.wait_for(left(wait_until));
  const base::Lock lock(mutex_);
  take_look_up();
  if (!known_.empty()) return base::kDone;
  if (look_up_failure_ && !look_up_.valid()) return *look_up_failure_;
  return base::Error{base::ErrorCode::kUnavailable,
                     "resolve " + name_.host + ": the name server does not answer in time"};
}

bool AuthAddresses::must_look_up() {
  if (look_up_.valid()) return false;
  if (known_.empty()) return true;
  return !is_numeric_ && base::now_ns() >= resolve_again_at_ns_;
}

// Returns false if no thread can be made now. That counts as a look-up that failed.
bool AuthAddresses::start_look_up() {
  try {
    look_up_ = look_up(name_, is_numeric_, resolver_);
    return true;
  } catch (const std::system_error& failure) {
    look_up_failure_ = base::Error{base::ErrorCode::kUnavailable,
                                   "resolve " + name_.host + ": no thread: " + failure.what()};
    resolve_again_at_ns_ = base::now_ns() + kSkipForNs;
    return false;
  }
}

// Takes over the addresses if the look-up has ended. If it failed, the known ones stay in use.
void AuthAddresses::take_look_up() {
  if (!look_up_.valid() || look_up_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return;
  const Found found = std::exchange(look_up_, {}).get();
  resolve_again_at_ns_ = base::now_ns() + kResolveEveryNs;
  if (!found) {
    look_up_failure_ = found.error();
    return;
  }
  std::vector<Known> fresh;
  for (const net::SocketAddress& address : *found) {
    const Known* const before = find(address);
    fresh.push_back(before != nullptr ? *before : Known{address});
  }
  known_ = std::move(fresh);
}

}  // namespace fileserver
