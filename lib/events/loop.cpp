#include "events/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "events/flow.h"
#include "events/spares.h"

namespace events {

namespace {

thread_local constinit Loop* my_loop = nullptr;

// What a context may do before others go on. A request is two units, or three.
constexpr int kUnitsOfTurn = 64;

std::system_error no_descriptors() {
  return {errno, std::generic_category(), "cannot make a loop"};
}

}  // namespace

// Rings when something was posted to a loop that sleeps.
class Loop::Bell final : public Watch {
 public:
  Bell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!fd_.is_open()) throw no_descriptors();
  }
  int fd() const { return fd_.get(); }
  void ring() { ::eventfd_write(fd(), 1); }
  void happened(std::uint32_t /*events*/) override {
    eventfd_t ignored = 0;
    ::eventfd_read(fd(), &ignored);
  }

 private:
  const net::Fd fd_;
};

// Memory may be there again though no context has ended.
class Loop::NextTry final : public Timer {
 public:
  explicit NextTry(Loop& loop) : loop_(loop) {}
  void wait() {
    constexpr std::int64_t kPauseNs = 100 * base::kNsPerMs;
    if (!is_linked()) loop_.set_timer(*this, base::now_ns() + kPauseNs);
  }
  void is_due() override {
    loop_.start_starved();
    if (loop_.is_short_of_memory()) wait();
  }

 private:
  Loop& loop_;
};

void Queue::push(Runnable& one) {
  assert(!one.is_queued_);
  one.is_queued_ = true;
  one.behind_ = nullptr;
  (last_ == nullptr ? first_ : last_->behind_) = &one;
  last_ = &one;
}

Runnable* Queue::pop() {
  Runnable* const one = first_;
  if (one == nullptr) return nullptr;
  first_ = one->behind_;
  if (first_ == nullptr) last_ = nullptr;
  one->is_queued_ = false;
  return one;
}

void Task::go_on(Loop& loop) { loop.run_in_context(*this); }

void OwnDescriptor::happened(std::uint32_t events) {
  if ((events & ~std::uint32_t{EPOLLOUT}) != 0) known_.is_empty = false;
  if ((events & (EPOLLPRI | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) known_.has_ended = true;
  came(events);
  if (waiting_ != nullptr && (events & wanted_) != 0) waiting_->loop_.wake(*waiting_);
}

void Flow::is_due() {
  if (until_ns_ == kNever) return;
  if (base::now_ns() < until_ns_) return loop_.set_timer(*this, until_ns_);
  is_timed_out_ = true;
  loop_.wake(*this);
}

void Flow::is_woken() {
  if (my_loop != &loop_) return loop_.post_flow(*this);
  is_unparked_ = true;
  loop_.wake(*this);
}

void Flow::go_on(Loop& loop) { loop.resume(*this); }

void Flow::body() {
  task_->run();
  task_ = nullptr;
  own_ = nullptr;
}

Loop::Loop(Helpers& helpers)
    : helpers_(helpers),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      bell_(std::make_unique<Bell>()),
      next_try_(std::make_unique<NextTry>(*this)),
      spares_(std::make_unique<Spares>(*this)) {
  if (!epoll_.is_open() || !watch(bell_->fd(), EPOLLIN, *bell_)) throw no_descriptors();
}

Loop::~Loop() = default;

Loop* Loop::current() { return my_loop; }

void Loop::run() {
  my_loop = this;
  base::some_have_waits = true;
  base::my_waits = this;
  while (!is_stopped_ || busy_flows_ > 0) {
    look(time_to_sleep_ms());
    run_ready();
    for (RoundEnd* const one : round_ends_) one->round_ends();
  }
  kept_.clear();
  spares_->clear();
  timers_.clear();
  base::my_waits = nullptr;
  my_loop = nullptr;
}

bool Loop::watch(int fd, std::uint32_t events, Watch& watch) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &watch;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

bool Loop::begin_to_watch(OwnDescriptor& own) {
  if (own.unwatched_ != 0 && !watch(own.fd_, own.unwatched_, own)) return false;
  own.unwatched_ = 0;
  return true;
}

void Loop::set_own_descriptor(OwnDescriptor* own) { flow_->own_ = own; }

void Loop::set_timer(Timer& timer, std::int64_t at_ns) {
  clear_timer(timer);
  timer.at_ns_ = at_ns;
  timers_.insert(timer);
}

void Loop::clear_timer(Timer& timer) {
  if (timer.is_linked()) timers_.erase(timers_.iterator_to(timer));
}

// What happens to several descriptors is told before anybody goes on, so no watch is gone that the
// kernel has named.
void Loop::look(int timeout_ms) {
  std::array<epoll_event, 256> events;
  if (timeout_ms != 0) {
    is_asleep_ = true;
    if (has_posted()) timeout_ms = 0;
  }
  if (timeout_ms != 0) awake_since_ns_.store(kNever, std::memory_order_relaxed);
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  is_asleep_ = false;
  awake_since_ns_.store(base::now_ns(), std::memory_order_relaxed);
  for (int i = 0; i < count; ++i)
    static_cast<Watch*>(events[static_cast<std::size_t>(i)].data.ptr)
        ->happened(events[static_cast<std::size_t>(i)].events);
  if (!timers_.empty()) wake_due();
  take_posted();
}

int Loop::time_to_sleep_ms() const {
  if (!ready_.is_empty() || !next_round_.is_empty()) return 0;
  if (timers_.empty()) return -1;
  const std::int64_t left_ns = timers_.begin()->at_ns_ - base::now_ns();
  const std::int64_t left_ms = (left_ns + base::kNsPerMs - 1) / base::kNsPerMs;
  return static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, 60'000));
}

void Loop::wake_due() {
  const std::int64_t now_ns = base::now_ns();
  while (!timers_.empty() && timers_.begin()->at_ns_ <= now_ns) {
    Timer& timer = *timers_.begin();
    timers_.erase(timers_.begin());
    timer.is_due();
  }
}

void Loop::take_posted() {
  Flow* flows = nullptr;
  std::vector<std::function<void()>> calls;
  {
    const base::Lock lock(mutex_);
    std::swap(flows, posted_flows_);
    calls.swap(posted_calls_);
  }
  for (; flows != nullptr; flows = flows->posted_behind_) {
    flows->is_unparked_ = true;
    wake(*flows);
  }
  for (const auto& call : calls) call();
}

void Loop::run_ready() {
  while (!next_round_.is_empty()) ready_.push(*next_round_.pop());
  while (Runnable* const one = ready_.pop()) one->go_on(*this);
}

void Loop::resume(Flow& flow) {
  Flow* const before = std::exchange(flow_, &flow);
  flow.units_left_ = kUnitsOfTurn;
  flow.Context::resume();
  flow_ = before;
  if (flow.is_at_start()) set_free(std::unique_ptr<Flow>(&flow));
}

// A task that found no memory for a context gets this one.
void Loop::set_free(std::unique_ptr<Flow> flow) {
  --busy_flows_;
  clear_timer(*flow);
  spares_->give(std::move(flow));
  start_starved();
}

void Loop::start_starved() {
  if (Runnable* const starved = starved_.pop()) ready_.push(*starved);
}

void Loop::run_in_context(Task& task) {
  std::unique_ptr<Flow> flow = free_flow();
  if (flow == nullptr) {
    starved_.push(task);
    return next_try_->wait();
  }
  ++busy_flows_;
  start_starved();
  flow->task_ = &task;
  resume(*flow.release());  // set_free() takes it back
}

// Null if there is no memory for one more.
std::unique_ptr<Flow> Loop::free_flow() {
  if (std::unique_ptr<Flow> flow = spares_->take()) return flow;
  try {
    std::unique_ptr<Flow> flow = spares_->make();
    is_shortage_logged_ = false;
    return flow;
  } catch (const std::bad_alloc&) {
    if (!std::exchange(is_shortage_logged_, true))
      base::log::error(
          "no memory for another context, connections wait contexts={} hint=\"each takes two of "
          "vm.max_map_count\"",
          busy_flows_);
    return nullptr;
  }
}

// A timer that is armed for at least as early stays: who is woken before its time, as nearly
// everybody is, has nothing to clear and nothing to set for its next sleep.
bool Loop::sleep_until(std::int64_t until_ns) {
  Flow& flow = *flow_;
  flow.is_timed_out_ = false;
  flow.until_ns_ = until_ns;
  const bool is_armed = flow.is_linked() && flow.at_ns_ <= until_ns;
  if (until_ns != kNever && !is_armed) set_timer(flow, until_ns);
  flow.leave();
  flow.until_ns_ = kNever;
  return !flow.is_timed_out_;
}

void Loop::wake(Flow& flow) {
  if (!flow.is_queued_) ready_.push(flow);
}

void Loop::post(std::function<void()> call) {
  {
    const base::Lock lock(mutex_);
    posted_calls_.push_back(std::move(call));
  }
  ring();
}

void Loop::post_flow(Flow& flow) {
  {
    const base::Lock lock(mutex_);
    flow.posted_behind_ = std::exchange(posted_flows_, &flow);
  }
  ring();
}

void Loop::ring() {
  if (is_asleep_.exchange(false)) bell_->ring();
}

bool Loop::has_posted() {
  const base::Lock lock(mutex_);
  return posted_flows_ != nullptr || !posted_calls_.empty();
}

}  // namespace events
