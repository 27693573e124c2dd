#include "net/resolved_name.h"

#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "base/completes.h"

namespace net {

namespace {

constexpr std::int64_t kLookUpEveryNs = 5 * base::kNsPerS;

}  // namespace

void ResolvedName::LookUp::end(Found found) {
  const base::Lock lock(mutex_);
  found_ = std::move(found);
  has_ended_.wake_all();
}

std::optional<ResolvedName::Found> ResolvedName::LookUp::found(base::Deadline deadline) {
  const base::Lock lock(mutex_);
  while (!found_ && !deadline.has_passed()) has_ended_.wait_ms(mutex_, deadline.left_ms());
  return found_;
}

ResolvedName::ResolvedName(HostPort name, Resolver resolver)
    : name_(std::move(name)), is_numeric_(is_numeric(name_.host)), resolver_(std::move(resolver)) {}

ResolvedName::Found ResolvedName::addresses(base::Deadline deadline) {
  SharedLookUp under_way;
  base::Deadline wait_until = deadline;
  {
    const base::Lock lock(mutex_);
    take_look_up();
    const bool must_start = is_due();
    const bool must_wait = known_.empty() || (must_start && std::exchange(does_none_work_, false));
    under_way = must_start ? start_look_up() : look_up_;
    if (!must_wait) return known_;
    if (!known_.empty()) wait_until = base::Deadline::in_ms(deadline.left_ms() / 2);
  }
  const auto found = under_way->found(wait_until);
  const base::Lock lock(mutex_);
  take_look_up();
  if (!known_.empty()) return known_;
  return found ? *found : not_in_time();
}

ResolvedName::Found ResolvedName::fresh_addresses(base::Deadline deadline) {
  SharedLookUp under_way;
  {
    const base::Lock lock(mutex_);
    take_look_up();
    if (is_numeric_ && !known_.empty()) return known_;
    under_way = look_up_ ? look_up_ : start_look_up();
  }
  const auto found = under_way->found(deadline);
  return found ? *found : Found(not_in_time());
}

void ResolvedName::none_works() {
  const base::Lock lock(mutex_);
  does_none_work_ = true;
  look_up_again_at_ns_ = 0;
}

bool ResolvedName::is_due() const {
  if (look_up_) return false;
  if (known_.empty()) return true;
  return !is_numeric_ && base::now_ns() >= look_up_again_at_ns_;
}

// If there is no memory, this throws and leaves no look-up behind: one that never ends would be
// waited for by all that come.
ResolvedName::SharedLookUp ResolvedName::start_look_up() {
  auto look_up = std::make_shared<LookUp>();
  if (is_numeric_) {
    look_up->end(resolver_(name_));
  } else {
    start_thread(look_up);
  }
  look_up_ = look_up;
  return look_up;
}

// Nobody joins the thread. It needs no memory of its own to say that there was none.
void ResolvedName::start_thread(const SharedLookUp& look_up) const {
  try {
    Found failed = base::Error{base::ErrorCode::kUnavailable, "resolve " + name_.host + ": failed"};
    std::thread([look_up, name = name_, resolver = resolver_, found = std::move(failed)]() mutable {
      std::ignore = base::completes("a look-up failed", [&] { found = resolver(name); });
      look_up->end(std::move(found));
    }).detach();
  } catch (const std::system_error& failure) {
    look_up->end(base::Error{base::ErrorCode::kUnavailable,
                             "resolve " + name_.host + ": no thread: " + failure.what()});
  }
}

// Takes over the addresses if the look-up has ended. If it failed, the known ones stay in use.
void ResolvedName::take_look_up() {
  if (!look_up_) return;
  const auto found = look_up_->found(base::Deadline::in_ms(0));
  if (!found) return;
  look_up_ = nullptr;
  look_up_again_at_ns_ = base::now_ns() + kLookUpEveryNs;
  does_none_work_ = false;
  if (*found) known_ = **found;
}

base::Error ResolvedName::not_in_time() const {
  return {base::ErrorCode::kUnavailable,
          "resolve " + name_.host + ": the name server does not answer in time"};
}

}  // namespace net
