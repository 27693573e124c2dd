#include "loadgen/loops/closed.h"

#include <algorithm>

#include "base/clock.h"
#include "loadgen/config/ramp.h"

namespace loadgen {

namespace {

class ClosedLoad final : public Load {
 public:
  explicit ClosedLoad(const Shared& shared) : shared_(shared) {}

  std::unique_ptr<Loop> make_loop(int thread) override {
    return std::make_unique<ClosedLoop>(shared_, thread);
  }

 private:
  const Shared& shared_;
};

}  // namespace

void ClosedLoop::send_requests(RunControl& control) {
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

bool ClosedLoop::is_window_over(const RunControl& control, std::int64_t done,
                                std::int64_t now_ns) const {
  if (makes_given_accounts(config_)) return false;
  return config_.requests > 0 ? done == config_.requests
                              : now_ns >= std::min(control.window_end_ns, end_ns_);
}

bool ClosedLoop::is_in_second_half(const RunControl& control, std::int64_t done,
                                   std::int64_t now_ns) const {
  return config_.requests > 0 ? 2 * done >= config_.requests : now_ns >= control.middle_ns();
}

void ClosedLoop::warm_up(RunControl& control) {
  control.warmup_gate.wait();
  while (!must_end(control) && base::now_ns() < control.warmup_end_ns) {
    carry_out_next(control);
    recorder_.count_warmup();
  }
  control.arrivals.arrive();
}

void ClosedLoop::measure(RunControl& control) {
  control.window_gate.wait();
  recorder_.begin(control.window_start_ns);
  std::int64_t now_ns = is_ramp(config_) ? join_ramp(control) : control.window_start_ns;
  for (std::int64_t done = 0; !must_end(control); ++done) {
    if (is_window_over(control, done, now_ns)) break;
    if (is_in_second_half(control, done, now_ns)) recorder_.begin_second_half();
    recorder_.start();
    const Exchange exchange = carry_out_next(control);
    recorder_.record(exchange);
    note_in_plateau(control, exchange);
    note_transfer(control, exchange);
    now_ns = exchange.ended_ns;
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
  client_.prepare();
  return base::now_ns();
}

// After a stop, not all threads run any more.
void ClosedLoop::note_in_plateau(const RunControl& control, const Exchange& exchange) {
  if (plateau_ == nullptr) return;
  const Ramp ramp(config_);
  const std::int64_t end_ns = control.window_start_ns + ramp.plateau_end_ns();
  plateau_->add(exchange, control.window_start_ns + ramp.plateau_start_ns(),
                std::min(end_ns, control.end_ns()));
}

void ClosedLoop::cool_down(RunControl& control) {
  while (!control.has_all_counted() && !must_end(control)) {
    carry_out_next(control);
    recorder_.count_cooldown();
  }
}

std::unique_ptr<Load> make_closed_load(const Shared& shared) {
  return std::make_unique<ClosedLoad>(shared);
}

}  // namespace loadgen
