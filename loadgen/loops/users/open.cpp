#include "loadgen/loops/users/open.h"

#include <sys/prctl.h>

#include "base/clock.h"
#include "loadgen/loops/open_load.h"

namespace loadgen::users {

// The kernel may by default wake a thread 50 us late, to save wake-ups.
void OpenUserLoop::send_requests(RunControl& control) {
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  control.window_gate.wait();
  recorder_.begin_open(control.window_start_ns);
  for (User& one : users_) {
    one.free_since_ns = control.warmup_start_ns;
    free_.push_back(&one);
  }
  while (!users_.empty()) {
    const std::int64_t next_ns = send_what_is_due();
    if (next_ns == INT64_MAX && under_way_ == 0) break;
    turn(next_ns);
  }
}

// Returns when the next request is due; INT64_MAX if there is none, or no user for it.
std::int64_t OpenUserLoop::send_what_is_due() {
  while (!free_.empty()) {
    if (!turn_) turn_ = schedule_.take_next();
    const std::int64_t due_ns = control_.warmup_start_ns + turn_->due_ns;
    if (due_ns >= control_.end_ns()) return INT64_MAX;
    if (due_ns > base::now_ns() && !control_.must_stop()) return due_ns;
    meet(*turn_, due_ns);
    turn_.reset();
  }
  return INT64_MAX;
}

// See OpenLoop::meet().
void OpenUserLoop::meet(const Schedule::Turn& turn, std::int64_t due_ns) {
  if (due_ns >= control_.middle_ns()) recorder_.begin_second_half();
  const bool counts = due_ns >= control_.window_start_ns;
  const std::int64_t begun_ns = base::now_ns();
  const std::int64_t drained_ns = control_.window_end_ns + config_.timeout_ms * base::kNsPerMs;
  User& one = *free_.front();
  const Request request = one.workload.next_of_schedule(turn.number);
  if (control_.must_stop() || begun_ns >= drained_ns) {
    if (counts) recorder_.record_unfinished(request.kind, due_ns, begun_ns);
    return;
  }
  if (counts) recorder_.start();
  free_.pop_front();
  one.counts = counts;
  one.due_ns = due_ns;
  one.begun_ns = begun_ns;
  begin(one, request);
}

void OpenUserLoop::ended(User& one) {
  if (config_.connection == Connection::kPerRequest) one.client.hang_up();
  recorder_.record(one.client.exchange(), {.due_ns = one.due_ns,
                                           .free_ns = one.free_since_ns,
                                           .begun_ns = one.begun_ns,
                                           .window_end_ns = control_.end_ns()});
  if (one.counts) note_transfer(one);
  one.free_since_ns = one.client.exchange().ended_ns;
  free_.push_back(&one);
}

std::unique_ptr<Load> make_open_load(const Shared& shared) {
  return std::make_unique<OpenLoad<OpenUserLoop>>(shared);
}

}  // namespace loadgen::users
