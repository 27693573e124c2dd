#include "loadgen/closed_loop.h"

#include "base/clock.h"

namespace loadgen {

void ClosedLoop::run(Course& course) noexcept {
  client_.prepare();
  course.arrivals.arrive();
  if (config_.warmup_ms > 0) warm_up(course);
  measure(course);
  course.arrivals.arrive();
}

// Who has nothing left to ask for ends the run for all: a thread that only waits for the others is
// no load.
bool ClosedLoop::must_end(Course& course) const {
  if (workload_.is_used_up()) course.must_stop.store(true, std::memory_order_relaxed);
  return course.must_stop.load(std::memory_order_relaxed);
}

Exchange ClosedLoop::carry_out_next(Course& course) {
  const Exchange exchange = client_.carry_out(workload_.next());
  if (client_.save_failure()) course.must_stop = true;
  return exchange;
}

void ClosedLoop::warm_up(Course& course) {
  course.warmup_gate.wait();
  while (!must_end(course) && base::now_ns() < course.warmup_end_ns) {
    carry_out_next(course);
    recorder_.count_warmup();
  }
  course.arrivals.arrive();
}

void ClosedLoop::measure(Course& course) {
  course.gate.wait();
  recorder_.begin(course.start_ns);
  std::int64_t now_ns = course.start_ns;
  for (std::int64_t done = 0; !must_end(course); ++done) {
    const bool is_over = config_.requests > 0 ? done == config_.requests : now_ns >= course.end_ns;
    if (is_over) break;
    const Exchange exchange = carry_out_next(course);
    recorder_.record(exchange);
    now_ns = exchange.ended_ns;
  }
}

}  // namespace loadgen
