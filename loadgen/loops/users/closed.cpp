#include "loadgen/loops/users/closed.h"

#include <sys/prctl.h>

#include <algorithm>

#include "base/clock.h"

namespace loadgen::users {

namespace {

class ClosedLoad final : public Load {
 public:
  explicit ClosedLoad(const Shared& shared) : shared_(shared) {}

  std::unique_ptr<Loop> make_loop(int thread) override {
    const Share share{.part = thread, .parts = shared_.config.threads};
    return std::make_unique<ClosedUserLoop>(shared_, share);
  }

 private:
  const Shared& shared_;
};

}  // namespace

void ClosedUserLoop::send_requests(RunControl& control) {
  if (think_.makes_pauses()) ::prctl(PR_SET_TIMERSLACK, 1UL);
  if (config_.warmup_ms > 0) {
    control.warmup_gate.wait();
    warm_up();
    control.arrivals.arrive();
  }
  control.window_gate.wait();
  measure();
}

void ClosedUserLoop::warm_up() {
  for (User& one : users_) {
    one.free_since_ns = base::now_ns();
    begin_next(one);
  }
  while (under_way_ + pausing_ > 0) turn(INT64_MAX);
}

void ClosedUserLoop::measure() {
  recorder_.begin(control_.window_start_ns);
  part_ = Part::kWindow;
  counting_ = static_cast<int>(users_.size());
  for (User& one : users_) {
    one.counts = one.is_first_of_phase = true;
    one.begun_ns = one.free_since_ns = control_.window_start_ns;
    begin_next(one);
  }
  while (under_way_ + pausing_ > 0) turn(INT64_MAX);
  if (users_.empty()) control_.finish_counting();  // there is no engine
  recorder_.set_active(active_ns_);
}

void ClosedUserLoop::ended(User& one) {
  const Exchange& exchange = one.client.exchange();
  one.free_since_ns = exchange.ended_ns;
  one.is_first_of_phase = false;
  if (part_ == Part::kWarmup) {
    recorder_.count_warmup();
  } else if (!one.counts) {
    recorder_.count_cooldown();
  } else {
    if (one.done++ == 0 && !think_.makes_pauses()) one.begun_ns = exchange.started_ns;
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
    finish_counting(one, one.free_since_ns);
  }
  if (part_ == Part::kWindow && !one.counts) {
    const bool cools_down = !ends_by_number(config_) && !control_.has_all_counted();
    if (ends || !cools_down) return;
  }
  if (think_.makes_pauses()) return pause(one);
  send(one);
}

void ClosedUserLoop::send(User& one) {
  if (part_ == Part::kWindow && one.counts) {
    begin_second_half_if_due();
    recorder_.start();
  }
  begin(one, one.workload.next());
}

// As ClosedLoop::pause().
void ClosedUserLoop::pause(User& one) {
  if (config_.connection == Connection::kPerRequest) one.client.hang_up();
  one.pause = {.from_ns = one.free_since_ns};
  const std::int64_t length_ns = one.is_first_of_phase ? think_.first_ns(one.tester, one.sent)
                                                       : think_.next_ns(one.tester, one.sent);
  one.pause.due_ns = one.pause.from_ns + length_ns;
  ++pausing_;
  wake_at(one, std::min(one.pause.due_ns, end_of_pauses(one)));
}

std::int64_t ClosedUserLoop::end_of_pauses(const User& one) const {
  if (part_ == Part::kWarmup) return control_.warmup_end_ns;
  return one.counts ? control_.window_end_ns : INT64_MAX;
}

bool ClosedUserLoop::cuts_pauses() const {
  return control_.must_stop() || control_.has_all_counted();
}

// See ClosedLoop::pause_in_window().
void ClosedUserLoop::woke(User& one) {
  --pausing_;
  Pause& made = one.pause;
  made.to_ns = base::now_ns();
  const std::int64_t end_ns = end_of_pauses(one);
  made.is_over = made.to_ns >= made.due_ns && made.to_ns < end_ns && !cuts_pauses();
  if (part_ == Part::kWindow && one.counts) {
    if (!made.is_over)
      made.to_ns = std::max(made.from_ns, std::min({made.to_ns, end_ns, control_.end_ns()}));
    recorder_.record(made);
  }
  if (made.is_over) return send(one);
  if (part_ == Part::kWarmup || !one.counts) return;
  finish_counting(one, made.to_ns);
  begin_next(one);
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

void ClosedUserLoop::finish_counting(User& one, std::int64_t end_ns) {
  one.counts = false;
  active_ns_ += end_ns - one.begun_ns;
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
