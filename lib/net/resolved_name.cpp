#include "net/resolved_name.h"

#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

namespace net {

namespace {

constexpr std::int64_t kLookUpEveryNs = 5 * base::kNsPerS;

bool has_ended(const std::shared_future<ResolvedName::Found>& look_up, base::Deadline deadline) {
  return look_up.wait_for(std::chrono::milliseconds(deadline.left_ms())) ==
         std::future_status::ready;
}

}  // namespace

ResolvedName::ResolvedName(HostPort name, Resolver resolver)
    : name_(std::move(name)), is_numeric_(is_numeric(name_.host)), resolver_(std::move(resolver)) {}

ResolvedName::Found ResolvedName::addresses(base::Deadline deadline) {
  LookUp under_way;
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
  const bool is_in_time = has_ended(under_way, wait_until);
  const base::Lock lock(mutex_);
  take_look_up();
  if (!known_.empty()) return known_;
  return is_in_time ? under_way.get() : not_in_time();
}

ResolvedName::Found ResolvedName::fresh_addresses(base::Deadline deadline) {
  LookUp under_way;
  {
    const base::Lock lock(mutex_);
    take_look_up();
    if (is_numeric_ && !known_.empty()) return known_;
    under_way = look_up_.valid() ? look_up_ : start_look_up();
  }
  return has_ended(under_way, deadline) ? under_way.get() : Found(not_in_time());
}

void ResolvedName::none_works() {
  const base::Lock lock(mutex_);
  does_none_work_ = true;
  look_up_again_at_ns_ = 0;
}

bool ResolvedName::is_due() const {
  if (look_up_.valid()) return false;
  if (known_.empty()) return true;
  return !is_numeric_ && base::now_ns() >= look_up_again_at_ns_;
}

ResolvedName::LookUp ResolvedName::start_look_up() {
  std::packaged_task<Found()> task([name = name_, resolver = resolver_] { return resolver(name); });
  if (is_numeric_) {
    task();
    look_up_ = task.get_future().share();
  } else {
    look_up_ = started_in_thread(std::move(task));
  }
  return look_up_;
}

// Nobody joins the thread.
ResolvedName::LookUp ResolvedName::started_in_thread(std::packaged_task<Found()> task) const {
  auto look_up = task.get_future().share();
  try {
    std::thread(std::move(task)).detach();
    return look_up;
  } catch (const std::system_error& failure) {
    std::promise<Found> failed;
    failed.set_value(base::Error{base::ErrorCode::kUnavailable,
                                 "resolve " + name_.host + ": no thread: " + failure.what()});
    return failed.get_future().share();
  }
}

// Takes over the addresses if the look-up has ended. If it failed, the known ones stay in use.
void ResolvedName::take_look_up() {
  if (!look_up_.valid() || !has_ended(look_up_, base::Deadline::in_ms(0))) return;
  const Found found = std::exchange(look_up_, {}).get();
  look_up_again_at_ns_ = base::now_ns() + kLookUpEveryNs;
  does_none_work_ = false;
  if (found) known_ = *found;
}

base::Error ResolvedName::not_in_time() const {
  return {base::ErrorCode::kUnavailable,
          "resolve " + name_.host + ": the name server does not answer in time"};
}

}  // namespace net
