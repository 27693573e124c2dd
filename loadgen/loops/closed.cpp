#include "loadgen/loops/closed.h"

#include <sys/prctl.h>

#include <algorithm>

#include "base/clock.h"
#include "loadgen/config/ramp.h"

namespace loadgen {

namespace {

class ClosedLoad final : public Load {
 public:
  explicit ClosedLoad(const Shared& shared) : shared_(shared) {}

  std::unique_ptr<Loop> make_loop(int thread) override {
    return std::make_unique<ClosedLoop>(shared_, number_in_load(shared_.config, thread));
  }

 private:
  const Shared& shared_;
};

}  // namespace

// The kernel may by default wake a thread 50 us late, to save wake-ups.
void ClosedLoop::send_requests(RunControl& control) {
  if (think_.makes_pauses()) ::prctl(PR_SET_TIMERSLACK, 1UL);
  if (config_.warmup_ms > 0) warm_up(control);
  measure(control);
  control.finish_counting();
  if (!ends_by_number(config_) && config_.life_ms == 0) cool_down(control);
}

// A thread whose files are used up ends the run for all threads. If it only waited for the others,
// the load would drop below N requests at once. When all given accounts are taken, each thread ends
// by itself, after it has made those that it took.
bool ClosedLoop::must_end(RunControl& control) const {
  if (workload_.is_used_up()) {
    if (makes_given_accounts(config_)) return true;
    control.stop(End::kFiles);
  }
  return control.must_stop();
}

bool ClosedLoop::is_window_over(const RunControl& control, std::int64_t done) const {
  if (makes_given_accounts(config_)) return false;
  return config_.requests > 0 ? done == config_.requests
                              : now_ns_ >= std::min(control.window_end_ns, end_ns_);
}

bool ClosedLoop::is_in_second_half(const RunControl& control, std::int64_t done) const {
  return config_.requests > 0 ? 2 * done >= config_.requests : now_ns_ >= control.middle_ns();
}

void ClosedLoop::begin_phase(std::int64_t now_ns) {
  now_ns_ = now_ns;
  is_first_of_phase_ = true;
}

// The previous connection is closed before the thread sleeps, as in an open loop. The pause counts
// from the end of the request, so closing is a part of it.
Pause ClosedLoop::pause(RunControl& control, std::int64_t end_ns) {
  if (!think_.makes_pauses()) return {.is_over = true};
  if (config_.connection == Connection::kPerRequest) client_->hang_up();
  Pause pause{.from_ns = now_ns_};
  pause.due_ns = pause.from_ns + (is_first_of_phase_ ? think_.first_ns(thread_, sent_)
                                                     : think_.next_ns(thread_, sent_));
  const bool has_come = control.sleep_until(std::min(pause.due_ns, end_ns));
  pause.to_ns = base::now_ns();
  pause.is_over = has_come && pause.to_ns < end_ns;
  if (pause.is_over) now_ns_ = pause.to_ns;
  return pause;
}

// Returns whether a request begins. What has passed of a pause that was cut counts up to the cut.
bool ClosedLoop::pause_in_window(RunControl& control) {
  if (!think_.makes_pauses()) return true;
  const std::int64_t end_ns = std::min(control.window_end_ns, end_ns_);
  Pause made = pause(control, end_ns);
  if (!made.is_over)
    made.to_ns = std::max(made.from_ns, std::min({made.to_ns, end_ns, control.end_ns()}));
  recorder_.record(made);
  note_in_plateau(control, made);
  return made.is_over;
}

Exchange ClosedLoop::send_next(RunControl& control) {
  Exchange exchange = carry_out_next(control);
  ++sent_;
  is_first_of_phase_ = false;
  now_ns_ = exchange.ended_ns;
  return exchange;
}

void ClosedLoop::warm_up(RunControl& control) {
  control.warmup_gate.wait();
  begin_phase(base::now_ns());
  while (!must_end(control) && base::now_ns() < control.warmup_end_ns) {
    if (!pause(control, control.warmup_end_ns).is_over) break;
    send_next(control);
    recorder_.count_warmup();
  }
  control.arrivals.arrive();
}

void ClosedLoop::measure(RunControl& control) {
  control.window_gate.wait();
  recorder_.begin(control.window_start_ns);
  begin_phase(is_ramp(config_) ? join_ramp(control) : control.window_start_ns);
  for (std::int64_t done = 0; !must_end(control); ++done) {
    if (is_window_over(control, done) || !pause_in_window(control)) break;
    if (is_in_second_half(control, done)) recorder_.begin_second_half();
    recorder_.start();
    const Exchange exchange = send_next(control);
    recorder_.record(exchange);
    note_in_plateau(control, exchange);
    note_transfer(control, exchange);
  }
}

// Returns when the thread has started, or would have if the run had not been stopped before.
std::int64_t ClosedLoop::join_ramp(RunControl& control) {
  const Ramp ramp(config_);
  plateau_ = &recorder_.begin_ramp();
  const std::int64_t start_ns = control.window_start_ns + ramp.start_ns(thread_);
  end_ns_ = control.window_start_ns + ramp.end_ns(thread_);
  if (!control.sleep_until(start_ns)) return start_ns;
  ++plateau_->threads_started;
  client_->prepare();
  return base::now_ns();
}

// After a stop, not all threads run any more.
template <typename Part>
void ClosedLoop::note_in_plateau(const RunControl& control, const Part& part) {
  if (plateau_ == nullptr) return;
  const Ramp ramp(config_);
  const std::int64_t end_ns = control.window_start_ns + ramp.plateau_end_ns();
  plateau_->add(part, control.window_start_ns + ramp.plateau_start_ns(),
                std::min(end_ns, control.end_ns()));
}

void ClosedLoop::cool_down(RunControl& control) {
  while (!control.has_all_counted() && !must_end(control)) {
    if (!pause(control, INT64_MAX).is_over) continue;
    send_next(control);
    recorder_.count_cooldown();
  }
}

std::unique_ptr<Load> make_closed_load(const Shared& shared) {
  return std::make_unique<ClosedLoad>(shared);
}

}  // namespace loadgen
