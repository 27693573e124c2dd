#include "loadgen/loops/users/closed.h"

#include "base/clock.h"

namespace loadgen::users {

namespace {

class ClosedLoad final : public Load {
 public:
  explicit ClosedLoad(const Shared& shared) : shared_(shared) {}

  std::unique_ptr<Loop> make_loop(int thread) override {
    const Share share{.thread = thread, .threads = shared_.config.threads};
    return std::make_unique<ClosedUserLoop>(shared_, share);
  }

 private:
  const Shared& shared_;
};

}  // namespace

void ClosedUserLoop::send_requests(RunControl& control) {
  if (config_.warmup_ms > 0) {
    control.warmup_gate.wait();
    warm_up();
    control.arrivals.arrive();
  }
  control.window_gate.wait();
  measure();
}

void ClosedUserLoop::warm_up() {
  for (User& one : users_) begin_next(one);
  while (under_way_ > 0) turn(INT64_MAX);
}

void ClosedUserLoop::measure() {
  recorder_.begin(control_.window_start_ns);
  part_ = Part::kWindow;
  counting_ = static_cast<int>(users_.size());
  for (User& one : users_) {
    one.counts = true;
    one.free_since_ns = control_.window_start_ns;
    begin_next(one);
  }
  while (under_way_ > 0) turn(INT64_MAX);
  if (users_.empty()) control_.finish_counting();  // there is no engine
  recorder_.set_active(active_ns_);
}

void ClosedUserLoop::ended(User& one) {
  const Exchange& exchange = one.client.exchange();
  one.free_since_ns = exchange.ended_ns;
  if (part_ == Part::kWarmup) {
    recorder_.count_warmup();
  } else if (!one.counts) {
    recorder_.count_cooldown();
  } else {
    if (one.done++ == 0) one.begun_ns = exchange.started_ns;
    ++done_;
    recorder_.record(exchange);
    note_transfer(one);
  }
  begin_next(one);
}

// As ClosedLoop: warm_up(), measure() and cool_down() of one thread.
void ClosedUserLoop::begin_next(User& one) {
  const bool ends = must_end(one);
  if (part_ == Part::kWarmup) {
    if (ends || base::now_ns() >= control_.warmup_end_ns) return;
  } else if (one.counts && (ends || is_window_over(one))) {
    finish_counting(one);
  }
  if (part_ == Part::kWindow && !one.counts) {
    const bool cools_down = !ends_by_number(config_) && !control_.has_all_counted();
    if (ends || !cools_down) return;
  }
  if (part_ == Part::kWindow && one.counts) {
    begin_second_half_if_due();
    recorder_.start();
  }
  begin(one, one.workload.next());
}

// See ClosedLoop::must_end().
bool ClosedUserLoop::must_end(const User& one) {
  if (one.workload.is_used_up()) {
    if (makes_given_accounts(config_)) return true;
    control_.stop(End::kFiles);
  }
  return control_.must_stop();
}

bool ClosedUserLoop::is_window_over(const User& one) const {
  if (makes_given_accounts(config_)) return false;
  return config_.requests > 0 ? one.done == config_.requests
                              : one.free_since_ns >= control_.window_end_ns;
}

void ClosedUserLoop::finish_counting(User& one) {
  one.counts = false;
  if (one.done > 0) active_ns_ += one.free_since_ns - one.begun_ns;
  if (--counting_ == 0) control_.finish_counting();
}

void ClosedUserLoop::begin_second_half_if_due() {
  const std::int64_t all =
      std::int64_t{config_.requests} * static_cast<std::int64_t>(users_.size());
  const bool is_due = all > 0 ? 2 * done_ >= all : base::now_ns() >= control_.middle_ns();
  if (is_due) recorder_.begin_second_half();
}

std::unique_ptr<Load> make_closed_load(const Shared& shared) {
  return std::make_unique<ClosedLoad>(shared);
}

}  // namespace loadgen::users
