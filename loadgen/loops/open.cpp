#include "loadgen/loops/open.h"

#include <sys/prctl.h>

#include "base/clock.h"
#include "loadgen/loops/open_load.h"

namespace loadgen {

// The kernel may by default wake a thread 50 us late, to save wake-ups.
void OpenLoop::send_requests(RunControl& control) {
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  control.window_gate.wait();
  recorder_.begin_open(control.window_start_ns);
  free_since_ns_ = control.warmup_start_ns;
  for (;;) {
    const Schedule::Turn turn = schedule_.take_next();
    const std::int64_t due_ns = control.warmup_start_ns + turn.due_ns;
    if (due_ns < control.window_end_ns) control.sleep_until(due_ns);
    if (due_ns >= control.end_ns()) return;
    meet(control, turn.number, due_ns);
  }
}

// The previous connection is closed before the thread sleeps. In a closed loop this belongs to the
// next request, but here the thread has time for it, and the server should not hold an idle one.
void OpenLoop::meet(RunControl& control, std::int64_t number, std::int64_t due_ns) {
  if (due_ns >= control.middle_ns()) recorder_.begin_second_half();
  const bool counts = due_ns >= control.window_start_ns;
  const std::int64_t begun_ns = base::now_ns();
  const std::int64_t drained_ns = control.window_end_ns + config_.timeout_ms * base::kNsPerMs;
  if (control.must_stop() || begun_ns >= drained_ns) {
    if (counts)
      recorder_.record_unfinished(workload_.next_of_schedule(number).kind, due_ns, begun_ns);
    return;
  }
  if (counts) recorder_.start();
  const Exchange exchange = carry_out(workload_.next_of_schedule(number), control);
  if (config_.connection == Connection::kPerRequest) client_->hang_up();
  recorder_.record(exchange, {.due_ns = due_ns,
                              .free_ns = free_since_ns_,
                              .begun_ns = begun_ns,
                              .window_end_ns = control.end_ns()});
  if (counts) note_transfer(control, exchange);
  free_since_ns_ = exchange.ended_ns;
}

std::unique_ptr<Load> make_open_load(const Shared& shared) {
  return std::make_unique<OpenLoad<OpenLoop>>(shared);
}

}  // namespace loadgen
