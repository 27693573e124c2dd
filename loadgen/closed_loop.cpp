#include "loadgen/closed_loop.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <system_error>

#include "base/clock.h"

namespace loadgen {

Arrivals::Arrivals() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!fd_.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void Arrivals::arrive() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd_.get(), &one, sizeof one);
  assert(written == sizeof one);
}

int Arrivals::take() {
  std::uint64_t count = 0;
  return ::read(fd_.get(), &count, sizeof count) == sizeof count ? static_cast<int>(count) : 0;
}

void ClosedLoop::run(RunControl& control) noexcept {
  client_.prepare();
  control.arrivals.arrive();
  if (config_.warmup_ms > 0) warm_up(control);
  measure(control);
  control.arrivals.arrive();
  control.end_gate.wait();
}

// A thread whose files are used up ends the run for all threads. If it only waited for the others,
// the load would drop below N requests at once. When all given accounts are taken, each thread ends
// by itself, after it has made those that it took.
bool ClosedLoop::must_end(RunControl& control) const {
  if (workload_.is_used_up()) {
    if (makes_given_accounts(config_)) return true;
    control.must_stop.store(true, std::memory_order_relaxed);
  }
  return control.must_stop.load(std::memory_order_relaxed);
}

bool ClosedLoop::is_window_over(const RunControl& control, std::int64_t done,
                                std::int64_t now_ns) const {
  if (makes_given_accounts(config_)) return false;
  return config_.requests > 0 ? done == config_.requests : now_ns >= control.window_end_ns;
}

Exchange ClosedLoop::carry_out_next(RunControl& control) {
  const Exchange exchange = client_.carry_out(workload_.next());
  if (client_.save_failure()) control.must_stop = true;
  return exchange;
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
    const Exchange exchange = carry_out_next(control);
    recorder_.record(exchange);
    now_ns = exchange.ended_ns;
  }
}

}  // namespace loadgen
