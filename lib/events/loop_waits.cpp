// A loop as base::Waits: where its contexts leave, and who brings them back.
#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <exception>
#include <memory>
#include <new>
#include <tuple>

#include "base/clock.h"
#include "events/flow.h"
#include "events/loop.h"

namespace events {

namespace {

std::uint32_t epoll_events_of(short poll_events) {
  std::uint32_t events = EPOLLHUP | EPOLLERR;
  if ((poll_events & POLLIN) != 0) events |= EPOLLIN | EPOLLRDHUP;
  if ((poll_events & POLLOUT) != 0) events |= EPOLLOUT;
  return events;
}

}  // namespace

base::KnownOfSocket* Loop::known_of(int fd) {
  if (flow_ == nullptr || flow_->own_ == nullptr || flow_->own_->fd_ != fd) return nullptr;
  return &flow_->own_->known_;
}

bool Loop::wait_for(int fd, short events, std::int64_t until_ns) {
  assert(flow_ != nullptr);
  const std::uint32_t wanted = epoll_events_of(events);
  if (OwnDescriptor* const own = flow_->own_; own != nullptr && own->fd_ == fd) {
    if (!begin_to_watch(*own)) return look_again_soon(until_ns);
    own->waiting_ = flow_;
    own->wanted_ = wanted;
    const bool is_in_time = sleep_until(until_ns);
    own->waiting_ = nullptr;
    return is_in_time;
  }
  class Other final : public OwnDescriptor {
   public:
    using OwnDescriptor::OwnDescriptor;
  } other(fd);
  other.waiting_ = flow_;
  other.wanted_ = wanted;
  if (!watch(fd, wanted & ~(EPOLLHUP | EPOLLERR), other)) return look_again_soon(until_ns);
  const bool is_in_time = sleep_until(until_ns);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  return is_in_time;
}

// Of a descriptor that cannot be watched, for want of memory.
bool Loop::look_again_soon(std::int64_t until_ns) {
  constexpr std::int64_t kLookAgainNs = 10 * base::kNsPerMs;
  pause_until(std::min(until_ns, base::now_ns() + kLookAgainNs));
  return base::now_ns() < until_ns;
}

// Who has woken the context may still be about to say so.
bool Loop::sleep_on(const void* word, Has has, std::uint32_t value, std::int64_t until_ns) {
  assert(flow_ != nullptr);
  Flow& flow = *flow_;
  flow.is_unparked_ = false;
  base::park(word, flow);
  const bool is_in_time = !has(word, value) || sleep_until(until_ns);
  if (!flow.is_unparked_ && base::undo_park(flow, word)) return is_in_time;
  while (!flow.is_unparked_) sleep_until(kNever);
  return true;
}

void Loop::pause_until(std::int64_t until_ns) {
  assert(flow_ != nullptr);
  while (sleep_until(until_ns)) {
  }
}

class Loop::Elsewhere final : public Helpers::Job {
 public:
  Elsewhere(const base::WorkRef& work, Loop& loop) : work_(work), loop_(loop), flow_(*loop.flow_) {
    flow_.is_unparked_ = false;
  }
  void work() override {
    has_begun_ = true;
    try {
      work_();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  void is_done() override { flow_.is_woken(); }

  // Requires: it was submitted.
  void wait(Helpers::Submitted submitted) {
    constexpr std::int64_t kPatienceNs = Helpers::kPatienceMs * base::kNsPerMs;
    bool may_wait_long = submitted == Helpers::Submitted::kWaits;
    while (!flow_.is_unparked_) {
      may_wait_long = may_wait_long && !has_begun_;
      loop_.sleep_until(may_wait_long ? base::now_ns() + kPatienceNs : kNever);
      if (may_wait_long && !has_begun_) loop_.helpers_.look_for_hung();
    }
  }
  void throw_failure() {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const base::WorkRef& work_;
  Loop& loop_;
  Flow& flow_;
  std::atomic<bool> has_begun_ = false;
  std::exception_ptr failure_;
};

void Loop::call_elsewhere(const base::WorkRef& work, Length length) {
  assert(flow_ != nullptr);
  Elsewhere job(work, *this);
  const Helpers::Submitted submitted = helpers_.submit(job, length);
  if (submitted == Helpers::Submitted::kRefused) {
    job.work();
  } else {
    job.wait(submitted);
  }
  job.throw_failure();
}

bool Loop::call_elsewhere_if_free(const base::WorkRef& work) {
  assert(flow_ != nullptr);
  Elsewhere job(work, *this);
  if (!helpers_.submit_if_free(job)) return false;
  job.wait(Helpers::Submitted::kBegins);
  job.throw_failure();
  return true;
}

// Owns itself once it was left to a helper.
class Loop::Destruction final : public Helpers::Job {
 public:
  explicit Destruction(std::unique_ptr<Remains> remains) : remains_(std::move(remains)) {}
  void work() override { remains_ = nullptr; }
  void is_done() override { const std::unique_ptr<Destruction> self(this); }

 private:
  std::unique_ptr<Remains> remains_;
};

// Who has many files that are not closed yet waits, so that nobody uses up all descriptors. So does
// who finds no memory.
void Loop::destroy_elsewhere(std::unique_ptr<Remains> remains) {
  std::unique_ptr<Destruction> job(new (std::nothrow) Destruction(std::move(remains)));
  if (job != nullptr && helpers_.leave(*job)) {
    std::ignore = job.release();
    return;
  }
  if (flow_ == nullptr) return;  // no task that could wait: it is destroyed here
  auto destroy = [&] { job == nullptr ? remains.reset() : job->work(); };
  call_elsewhere(base::WorkRef(destroy), Length::kShort);
}

void Loop::has_worked(int units) {
  if (flow_ == nullptr || (flow_->units_left_ -= units) > 0) return;
  next_round_.push(*flow_);
  flow_->leave();
}

}  // namespace events
