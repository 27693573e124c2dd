#include "loadgen/loops/closed.h"

#include "base/clock.h"

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
  if (!ends_by_number(config_)) cool_down(control);
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
  return config_.requests > 0 ? done == config_.requests : now_ns >= control.window_end_ns;
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
  std::int64_t now_ns = control.window_start_ns;
  for (std::int64_t done = 0; !must_end(control); ++done) {
    if (is_window_over(control, done, now_ns)) break;
    recorder_.start();
    const Exchange exchange = carry_out_next(control);
    recorder_.record(exchange);
    note_transfer(control, exchange);
    now_ns = exchange.ended_ns;
  }
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
