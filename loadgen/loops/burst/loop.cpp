#include "loadgen/loops/burst/loop.h"

namespace loadgen::burst {

namespace {

// With the time before the release taken out.
Exchange from_release(Exchange exchange) {
  if (exchange.asked_ns == 0) return exchange;
  exchange.started_ns = exchange.asked_ns;
  exchange.connected_ns = exchange.logged_in_ns = exchange.data_connected_ns = 0;
  return exchange;
}

}  // namespace

// Without a window, not all threads could be started. Those that were must not wait for the others.
void BurstLoop::send_requests(RunControl& control) {
  control.window_gate.wait();
  if (control.window_start_ns == 0) return;
  recorder_.begin(control.window_start_ns);
  while (rounds_.begin_next()) {
    if (rounds_.is_in_second_half()) recorder_.begin_second_half();
    recorder_.start();
    const Exchange exchange = carry_out_next(control, &rounds_);
    if (exchange.asked_ns == 0) rounds_.pass();
    rounds_.finish(thread_, transfer_of(exchange));
    recorder_.record(from_release(exchange));
    note_transfer(control, exchange);
  }
}

}  // namespace loadgen::burst
